// Declares a JSON file as a typed module. The TypeScript worker cannot read JSON, but it reads a declaration next to
// it.
import { isObject, type Json } from '../api/json';

/** The path of a JSON file's declarations. */
export const declarationOf = (path: string): string => path.replace(/\.json$/, '.d.json.ts');

/** Declares the imports of a JSON file: the whole value as default, its properties by name. */
export function jsonModule(text: string): string {
  let value: Json | undefined;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return 'declare const value: unknown;\nexport default value;\n';
  }
  const names = isObject(value) ? Object.keys(value).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key)) : [];
  // Exports use string names, because a property may be a keyword.
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
