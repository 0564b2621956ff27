// Runs before the first paint, so that no page flashes in the wrong theme. It is a file because the
// content security policy allows no inline script.
(function () {
  var choice = null;
  try {
    choice = localStorage.getItem('atelier.theme');
  } catch {
    // Storage may be forbidden; the system's theme is then used.
  }
  var light = matchMedia('(prefers-color-scheme: light)').matches;
  document.documentElement.dataset.theme = choice === 'dark' || choice === 'light' ? choice : light ? 'light' : 'dark';
})();
