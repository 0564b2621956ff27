// Sets the theme before the first paint, so that no page flashes, and follows changes of the choice and of the system.
// It is a file because the content security policy forbids inline scripts.
(function () {
  var system = matchMedia('(prefers-color-scheme: light)');
  function show() {
    var choice = null;
    try {
      choice = localStorage.getItem('atelier.theme');
    } catch {
      // Storage may be blocked. Then the system's theme applies.
    }
    document.documentElement.dataset.theme =
      choice === 'dark' || choice === 'light' ? choice : system.matches ? 'light' : 'dark';
  }
  show();
  system.addEventListener('change', show);
  window.addEventListener('storage', show);
})();
