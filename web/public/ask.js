// Starts the page's first API requests while its code is still loading; src/api/early.ts reads the answers. It is a
// file because the content security policy forbids inline scripts.
(function () {
  if (window.asked) return; // the code was loaded first
  var workspace = '';
  try {
    workspace = sessionStorage.getItem('atelier.workspace') ?? localStorage.getItem('atelier.workspace') ?? '';
  } catch {
    // Storage may be blocked. Then no workspace was chosen.
  }
  var headers = workspace === '' ? {} : { 'X-Workspace': workspace };
  headers.Accept = 'application/json';
  var api = document.querySelector('meta[name=base-path]').content + '/api/v1';
  var agent = /\/studio\/a\/([\w-]+)(?:@[^/]*)?$/.exec(location.pathname);
  var answers = {};
  function ask(path) {
    answers[path] = fetch(api + path, { headers, credentials: 'same-origin' })
      .then((answer) => (answer.ok ? answer.text() : undefined))
      .then((text) => {
        // The first reader of the promise takes the text; later readers get nothing.
        if (path in answers) answers[path] = text;
        return text;
      })
      .catch(() => undefined);
  }
  if (/\/studio\/a\/[^/]+$/.test(location.pathname)) {
    for (var link of document.querySelectorAll('link[data-editor]')) link.rel = link.dataset.editor;
  }
  ask('/session');
  if (agent) ask('/code-agents/' + agent[1]);
  window.asked = { workspace, agent: agent ? agent[1] : undefined, answers };
})();
