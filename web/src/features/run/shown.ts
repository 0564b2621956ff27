// Determines the views of an output. There is always a tree. Tables, pictures and texts are added if the output
// contains them.
import { isObject, rawNumber, type Json } from '../../api/json';

export type Look = 'view' | 'tree' | 'table' | 'image' | 'text' | 'markdown';

export interface Named<T> {
  /** The JSONPath of the value, for example $.days. */
  path: string;
  value: T;
}
export interface Table {
  columns: string[];
  rows: Json[][];
}

const mostColumns = 24;
// The allowed picture formats, which cannot contain scripts. Pictures in other formats are shown as text.
const picture = /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/=]+$/;

/** Returns the output itself, and the direct properties of an object. */
function parts(output: Json): Named<Json>[] {
  const whole = [{ path: '$', value: output }];
  if (!isObject(output)) return whole;
  return [...whole, ...Object.entries(output).map(([key, value]) => ({ path: `$${step(key)}`, value }))];
}

export const tablesOf = (output: Json): Named<Table>[] =>
  parts(output).flatMap(({ path, value }) => {
    const table = tableOf(value);
    return table ? [{ path, value: table }] : [];
  });
export const imagesOf = (output: Json): Named<string>[] => textsLike(output, (text) => picture.test(text));
export const textsOf = (output: Json): Named<string>[] =>
  textsLike(output, (text) => text.includes('\n') && !picture.test(text));

/** Whether a text looks like Markdown: it has several lines, and a heading, a list, a fence or bold words. */
export const formattedOf = (output: Json): Named<string>[] =>
  textsOf(output).filter(({ value }) => /^(#{1,6} |[-*] |\d+\. |```)|\*\*\S/m.test(value));

function textsLike(output: Json, fits: (text: string) => boolean): Named<string>[] {
  return parts(output).flatMap(({ path, value }) =>
    typeof value === 'string' && fits(value) ? [{ path, value }] : [],
  );
}

/** The available views, most useful last. */
export function looksOf(output: Json): Look[] {
  const looks: Look[] = ['tree'];
  if (tablesOf(output).length > 0) looks.push('table');
  if (textsOf(output).length > 0) looks.push('text');
  if (formattedOf(output).length > 0) looks.push('markdown');
  if (imagesOf(output).length > 0) looks.push('image');
  return looks;
}

/** A list of flat objects is a table. */
export function tableOf(value: Json): Table | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const columns = new Set<string>();
  for (const row of value) {
    if (!isObject(row) || Object.values(row).some((cell) => Array.isArray(cell) || isObject(cell))) return undefined;
    for (const key of Object.keys(row)) columns.add(key);
  }
  if (columns.size === 0 || columns.size > mostColumns) return undefined;
  const names = [...columns];
  return { columns: names, rows: value.map((row) => names.map((name) => cellOf(row, name))) };
}

function cellOf(row: Json, name: string): Json {
  const cell = isObject(row) ? row[name] : undefined;
  return cell === undefined ? '' : cell;
}

/** One JSONPath step. */
export const step = (key: string | number): string =>
  typeof key === 'number' ? `[${key}]` : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;

export const cellText = (value: Json): string =>
  typeof value === 'string' ? value : (rawNumber(value) ?? JSON.stringify(value));
