// Dark or light: the system's choice until a person makes one. public/theme.js does the same before the first paint.
export type Theme = 'dark' | 'light';
export type ThemeChoice = Theme | 'system';

const key = 'atelier.theme';
const listeners = new Set<() => void>();
const system = matchMedia('(prefers-color-scheme: light)');

let chosen: ThemeChoice = kept();

export const currentTheme = (): Theme => (document.documentElement.dataset['theme'] === 'light' ? 'light' : 'dark');
export const chosenTheme = (): ThemeChoice => chosen;

export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const switchTheme = (): void => chooseTheme(currentTheme() === 'dark' ? 'light' : 'dark');

export function chooseTheme(choice: ThemeChoice): void {
  try {
    if (choice === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, choice);
  } catch {
    // The choice then lasts as long as the page.
  }
  show(choice);
}

system.addEventListener('change', () => show(chosen));

// What is chosen in one tab holds in all.
window.addEventListener('storage', (e) => {
  if (e.key === key) show(read(e.newValue));
});

function kept(): ThemeChoice {
  try {
    return read(localStorage.getItem(key));
  } catch {
    return 'system';
  }
}

function read(value: string | null): ThemeChoice {
  return value === 'dark' || value === 'light' ? value : 'system';
}

function show(choice: ThemeChoice): void {
  chosen = choice;
  const followed = system.matches ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = choice === 'system' ? followed : choice;
  for (const listener of listeners) listener();
}
