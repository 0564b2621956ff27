// Dark or light: the system's choice until a person makes one. public/theme.js does the same before the first paint.
export type Theme = 'dark' | 'light';

const key = 'atelier.theme';
const listeners = new Set<() => void>();
const system = matchMedia('(prefers-color-scheme: light)');

export const currentTheme = (): Theme => (document.documentElement.dataset['theme'] === 'light' ? 'light' : 'dark');

export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function switchTheme(): void {
  const next: Theme = currentTheme() === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(key, next);
  } catch {
    // The choice then lasts as long as the page.
  }
  show(next);
}

system.addEventListener('change', () => {
  if (localStorage.getItem(key) === null) show(system.matches ? 'light' : 'dark');
});

// What is chosen in one tab holds in all.
window.addEventListener('storage', ({ key: changed, newValue }) => {
  if (changed === key && (newValue === 'dark' || newValue === 'light')) show(newValue);
});

function show(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
  for (const listener of listeners) listener();
}
