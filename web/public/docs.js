// Search of the API page at /docs, and links to its closed parts. It is a file because the content security policy
// forbids inline scripts. Without it the page is complete, but has no search.
(function () {
  var box = document.getElementById('find');
  var none = document.getElementById('none');
  if (!box || !none) return;
  var parts = [...document.querySelectorAll('main details')].map((part) => ({
    part,
    // Most examples are about the same agent, so their words would match everything.
    text: [...part.children]
      .filter((child) => child.className !== 'example')
      .map((child) => child.textContent.toLowerCase())
      .join(' '),
  }));
  function find() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    for (var { part, text } of parts) {
      part.hidden = !words.every((word) => text.includes(word));
      if (!part.hidden) shown++;
    }
    for (var section of document.querySelectorAll('main section'))
      section.hidden = section.querySelector('details:not([hidden])') === null;
    none.hidden = words.length === 0;
    none.textContent =
      shown === 0 ? 'Nothing matches “' + box.value + '”.' : shown + (shown === 1 ? ' part matches.' : ' parts match.');
  }
  /** A link to a closed part opens it. */
  function open() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || target.tagName !== 'DETAILS') return;
    target.hidden = false;
    target.open = true;
    target.scrollIntoView();
  }
  box.hidden = false;
  box.addEventListener('input', find);
  addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== box) {
      event.preventDefault();
      box.focus();
    }
  });
  addEventListener('hashchange', open);
  open();
})();
