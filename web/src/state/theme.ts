// Stores the theme, which is that of the system or the user's choice. public/theme.js sets the theme before the first
// paint.
import { removeStored, keep, readStored } from '../api/storage';

export type Theme = 'dark' | 'light';
export type ThemeChoice = Theme | 'system';

const key = 'atelier.theme';
const listeners = new Set<() => void>();
const system = matchMedia('(prefers-color-scheme: light)');

let chosen: ThemeChoice = readStored(key, read) ?? 'system';

export const currentTheme = (): Theme => (document.documentElement.dataset['theme'] === 'light' ? 'light' : 'dark');
export const chosenTheme = (): ThemeChoice => chosen;

export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const switchTheme = (): void => chooseTheme(currentTheme() === 'dark' ? 'light' : 'dark');

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') removeStored(key);
  else keep(key, choice);
  show(choice);
}

system.addEventListener('change', () => show(chosen));

// A change applies to all tabs of the browser.
window.addEventListener('storage', (e) => {
  if (e.key === key) show(read(e.newValue));
});

function read(value: string | null): ThemeChoice {
  return value === 'dark' || value === 'light' ? value : 'system';
}

function show(choice: ThemeChoice): void {
  chosen = choice;
  const followed = system.matches ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = choice === 'system' ? followed : choice;
  for (const listener of listeners) listener();
}
