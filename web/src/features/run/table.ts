// Sorts the rows of a table and writes them as CSV.
import { rawNumber, type Json } from '../../api/json';
import { cellText, type Table } from './shown';

export interface Order {
  column: number;
  descending: boolean;
}

const texts = new Intl.Collator('en', { numeric: true });

/** Numbers come before texts. Rows with equal values keep their order. */
export function sortedRows(rows: Json[][], order: Order | undefined): Json[][] {
  if (!order) return rows;
  const by = (row: Json[]): Json => row[order.column] ?? null;
  const direction = order.descending ? -1 : 1;
  return [...rows].sort((a, b) => direction * compare(by(a), by(b)));
}

function compare(a: Json, b: Json): number {
  const [left, right] = [numberIn(a), numberIn(b)];
  if (left !== undefined && right !== undefined) return left - right;
  if (left !== undefined || right !== undefined) return left !== undefined ? -1 : 1;
  return texts.compare(cellText(a), cellText(b));
}

function numberIn(value: Json): number | undefined {
  const text = rawNumber(value);
  return typeof value === 'number' ? value : text === undefined ? undefined : Number(text);
}

/** Writes CSV according to RFC 4180. If a spreadsheet would treat a text as a formula, the text gets an apostrophe. */
export function csvOf({ columns, rows }: Table): string {
  const lines = [columns, ...rows.map((row) => row.map((cell) => field(cell)))];
  return lines.map((line, n) => (n === 0 ? line.map(field) : line).join(',')).join('\r\n') + '\r\n';
}

function field(cell: Json): string {
  const text = cell === null ? '' : cellText(cell);
  const safe = typeof cell === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
