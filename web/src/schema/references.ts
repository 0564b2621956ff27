// Resolves `$ref` and names its targets, for TypeScript and for Python declarations.
import { isObject, type Json } from '../api/json';
import type { JsonSchema } from '../api/types';

/** Returns the schema to which a local reference points. */
export function resolve(ref: string, root: JsonSchema): Json | undefined {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let at: Json | undefined = root;
  for (const token of ref.slice(1).split('/').slice(1)) {
    const key = unescapeToken(token);
    at = Array.isArray(at) ? at[Number(key)] : isObject(at) ? at[key] : undefined;
  }
  return at;
}

function unescapeToken(token: string): string {
  try {
    return decodeURIComponent(token).replace(/~1/g, '/').replace(/~0/g, '~');
  } catch {
    return token;
  }
}

/** Returns a name in PascalCase that is not used yet. */
export function freeName(prefix: string, words: string, taken: Iterable<string>): string {
  const parts = words.split(/[^A-Za-z0-9]+/).filter((w) => w !== '');
  const base = prefix + parts.map((w) => w.charAt(0).toUpperCase() + w.slice(1)).join('');
  const used = new Set(taken);
  let name = base;
  for (let n = 2; used.has(name); n++) name = `${base}${n}`;
  return name;
}

/** Returns the type that a schema without "type" implies. */
export function implied(schema: Record<string, Json>): string | undefined {
  if ('properties' in schema || 'additionalProperties' in schema || 'required' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  return undefined;
}
