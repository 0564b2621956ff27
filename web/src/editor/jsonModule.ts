// Declares a JSON file as a typed module. The TypeScript worker cannot read JSON, but it reads a declaration file next
// to it.
import { isObject, type Json } from '../api/json';

/** Returns the path of the declarations for a JSON file. */
export const declarationOf = (path: string): string => path.replace(/\.json$/, '.d.json.ts');

/** Declares the exports of a JSON file: the whole value as default, and its properties by name. */
export function jsonModule(text: string): string {
  let value: Json | undefined;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return 'declare const value: unknown;\nexport default value;\n';
  }
  const names = isObject(value) ? Object.keys(value).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key)) : [];
  // The exports use string names, because the name of a property may be a keyword.
  const properties = names.map(
    (key, n) => `declare const p${n}: (typeof value)['${key}'];\nexport { p${n} as ${key} };\n`,
  );
  return `declare const value: ${typeOf(value)};\nexport default value;\n${properties.filter((_, n) => names[n] !== 'default').join('')}`;
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) {
    const types = [...new Set(value.map(typeOf))];
    return types.length === 0 ? 'unknown[]' : `(${types.join(' | ')})[]`;
  }
  if (!isObject(value)) return typeof value;
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${typeOf(field)}`);
  return fields.length === 0 ? 'Record<string, never>' : `{ ${fields.join('; ')} }`;
}
