// Asks what a page needs first while its code is still on its way; src/api/early.ts takes the answers. It is a file because
// the content security policy allows no inline script.
(function () {
  if (window.asked) return; // the code was here first
  var workspace = '';
  try {
    workspace = sessionStorage.getItem('atelier.workspace') ?? localStorage.getItem('atelier.workspace') ?? '';
  } catch {
    // Storage may be forbidden; nothing was chosen then.
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
        // Who has taken the promise gets the text from it, and nobody else does.
        if (path in answers) answers[path] = text;
        return text;
      })
      .catch(() => undefined);
  }
  ask('/session');
  if (agent) ask('/code-agents/' + agent[1]);
  window.asked = { workspace, agent: agent ? agent[1] : undefined, answers };
})();
