// Search of the API page at /docs, links to its closed parts, its theme and copy buttons, and the mark of the group that is read.
// It is a file because the content security policy forbids inline scripts. Without it the page is complete.
(function () {
  var box = document.getElementById('find');
  var none = document.getElementById('none');
  var base = document.getElementById('base');
  var theme = document.getElementById('theme');
  if (!box || !none) return;
  var parts = [...document.querySelectorAll('main details')].map((part) => ({
    part,
    // Most examples are about the same agent, so their words would match everything.
    text: [...part.children]
      .filter((child) => !child.classList.contains('example'))
      .map((child) => child.textContent.toLowerCase())
      .join(' '),
  }));
  var sections = [...document.querySelectorAll('main section')];
  var links = [...document.querySelectorAll('nav a')];
  function find() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    for (var { part, text } of parts) {
      part.hidden = !words.every((word) => text.includes(word));
      if (!part.hidden) shown++;
    }
    for (var section of sections) section.hidden = section.querySelector('details:not([hidden])') === null;
    none.hidden = words.length === 0;
    none.textContent =
      shown === 0 ? 'Nothing matches “' + box.value + '”.' : shown + (shown === 1 ? ' part matches.' : ' parts match.');
    mark();
  }
  /** A link to a closed part opens it. */
  function open() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || target.tagName !== 'DETAILS') return;
    target.hidden = false;
    target.open = true;
    target.scrollIntoView();
  }
  /** Marks the group at the top of the window. On a phone its link scrolls into view. */
  function mark() {
    var read = sections.filter((section) => !section.hidden && section.getBoundingClientRect().top < 140).pop();
    var id = read && read.querySelector('h2').id;
    for (var link of links) {
      if (link.hash.slice(1) !== id) link.removeAttribute('aria-current');
      else if (!link.hasAttribute('aria-current')) {
        link.setAttribute('aria-current', 'true');
        var list = link.parentElement;
        list.scrollTo({ left: link.offsetLeft - 12, top: link.offsetTop - list.clientHeight / 2 });
      }
    }
  }
  /** The choice of the Studio. theme.js follows a changed choice of other tabs only, so the page is told as well. */
  function switchTheme() {
    var to = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem('atelier.theme', to);
    } catch {
      // Storage may be blocked. Then the theme lasts until the page is left.
    }
    document.documentElement.dataset.theme = to;
  }
  /** Copies the command before a button. Without HTTPS the browser has no clipboard API. */
  function copy(event) {
    var button = event.currentTarget;
    var text = button.previousElementSibling;
    var done = () => {
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 1600);
    };
    if (navigator.clipboard) {
      navigator.clipboard.writeText(text.textContent).then(done, () => getSelection().selectAllChildren(text));
      return;
    }
    getSelection().selectAllChildren(text);
    if (document.execCommand('copy')) done();
  }
  if (base) base.textContent = location.origin + base.textContent;
  for (var origin of document.querySelectorAll('.origin')) origin.textContent = location.origin;
  for (var button of document.querySelectorAll('.copy')) {
    button.hidden = false;
    button.addEventListener('click', copy);
  }
  if (theme) {
    theme.hidden = false;
    theme.addEventListener('click', switchTheme);
  }
  box.parentElement.hidden = false;
  box.addEventListener('input', find);
  addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== box) {
      event.preventDefault();
      box.focus();
    }
  });
  addEventListener('hashchange', open);
  addEventListener('scroll', mark, { passive: true });
  open();
  mark();
})();
