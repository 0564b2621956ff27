// Converts between RFC 3339 times and local time fields.

/** Converts a time to the browser's time zone. Returns undefined if the text is invalid. */
export function toLocal(text: string): string | undefined {
  const at = new Date(text);
  if (text === '' || Number.isNaN(at.getTime())) return undefined;
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const ms = at.getMilliseconds() === 0 ? '' : `.${String(at.getMilliseconds()).padStart(3, '0')}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}${ms}`;
}

/** Converts the value of a local time field to UTC. */
export function fromLocal(local: string): string | undefined {
  const at = new Date(local);
  return local === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString().replace('.000Z', 'Z');
}
