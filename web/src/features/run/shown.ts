// How an output can be shown: as a tree always; as tables, pictures or text where it holds such.
import { isObject, rawNumber, type Json } from '../../api/json';

export type Look = 'tree' | 'table' | 'image' | 'text';

export interface Named<T> {
  /** Where in the output it is, as in $.days. */
  path: string;
  value: T;
}
export interface Table {
  columns: string[];
  rows: Json[][];
}

const mostColumns = 24;
// What a picture may be: formats that carry no script. Anything else is shown as text.
const picture = /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/=]+$/;

/** The output itself and, of an object, what it holds directly. */
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

function textsLike(output: Json, fits: (text: string) => boolean): Named<string>[] {
  return parts(output).flatMap(({ path, value }) =>
    typeof value === 'string' && fits(value) ? [{ path, value }] : [],
  );
}

/** The looks that an output has, the most telling last. */
export function looksOf(output: Json): Look[] {
  const looks: Look[] = ['tree'];
  if (tablesOf(output).length > 0) looks.push('table');
  if (textsOf(output).length > 0) looks.push('text');
  if (imagesOf(output).length > 0) looks.push('image');
  return looks;
}

/** A list of flat objects is a table. */
function tableOf(value: Json): Table | undefined {
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

/** One step of a path, as JSONPath writes it. */
export const step = (key: string | number): string =>
  typeof key === 'number' ? `[${key}]` : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;

export const cellText = (value: Json): string =>
  typeof value === 'string' ? value : (rawNumber(value) ?? JSON.stringify(value));
