// Moments as RFC 3339 writes them, and as a field for local times does.

/** The moment in the browser's time zone, or undefined for a text that is none. */
export function toLocal(text: string): string | undefined {
  const at = new Date(text);
  if (text === '' || Number.isNaN(at.getTime())) return undefined;
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const ms = at.getMilliseconds() === 0 ? '' : `.${String(at.getMilliseconds()).padStart(3, '0')}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}${ms}`;
}

/** What a field for local times holds, as a moment in UTC. */
export function fromLocal(local: string): string | undefined {
  const at = new Date(local);
  return local === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString().replace('.000Z', 'Z');
}
