// Sets the theme before the first paint, so that no page flashes. It is a file because the content security policy
// forbids inline scripts.
(function () {
  var choice = null;
  try {
    choice = localStorage.getItem('atelier.theme');
  } catch {
    // Storage may be blocked. Then the system's theme applies.
  }
  var light = matchMedia('(prefers-color-scheme: light)').matches;
  document.documentElement.dataset.theme = choice === 'dark' || choice === 'light' ? choice : light ? 'light' : 'dark';
})();
