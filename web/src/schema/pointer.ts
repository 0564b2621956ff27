// Reads values at JSON pointers (RFC 6901), and changes copies of them.
import { isObject, type Json } from '../api/json';

export const join = (pointer: string, key: string | number): string =>
  `${pointer}/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`;

export const tokens = (pointer: string): string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((t) => t.replace(/~1/g, '/').replace(/~0/g, '~'));

export function get(value: Json | undefined, pointer: string): Json | undefined {
  return tokens(pointer).reduce<Json | undefined>(child, value);
}

function child(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) ? value[key] : undefined;
}

/**
 * Returns a copy of the value with another value at one location; undefined removes the location. Missing objects on
 * the path are created.
 */
export function set(value: Json | undefined, pointer: string, to: Json | undefined): Json | undefined {
  return setAt(value, tokens(pointer), to);
}

function setAt(value: Json | undefined, path: string[], to: Json | undefined): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return to;
  if (Array.isArray(value)) {
    const index = Number(key);
    const item = setAt(value[index], rest, to);
    return item === undefined ? value.filter((_, i) => i !== index) : value.with(index, item);
  }
  const object = isObject(value) ? value : {};
  const item = setAt(object[key], rest, to);
  if (item !== undefined) return { ...object, [key]: item };
  return Object.fromEntries(Object.entries(object).filter(([k]) => k !== key));
}
