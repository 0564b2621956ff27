// The input of an agent's last run, kept in the browser so that a reload does not lose it.
const key = (id: string): string => `atelier.input.${id}`;

export function rememberInput(id: string, text: string): void {
  try {
    localStorage.setItem(key(id), text);
  } catch {
    // Full or forbidden storage only costs the convenience.
  }
}

export function rememberedInput(id: string): string | undefined {
  try {
    return localStorage.getItem(key(id)) ?? undefined;
  } catch {
    return undefined;
  }
}
