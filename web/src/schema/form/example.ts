// Returns an example value for a schema. It is the schema's example if there is one, otherwise the simplest value
// within the limits. Patterns are ignored, because generated texts look unrealistic.
import { plain, type Json, type JsonObject } from '../../api/json';
import type { Shape } from './shape';

const formats: Partial<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  email: 'name@example.com',
  uri: 'https://example.com',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
};

/** Returns the example in the schema. */
export const ownExample = (node: JsonObject): Json | undefined =>
  Array.isArray(node['examples']) ? node['examples'][0] : undefined;

export function exampleOf(shape: Shape, node: JsonObject): Json {
  const given = ownExample(node);
  if (given !== undefined) return given;
  switch (shape.kind) {
    case 'text':
    case 'moment':
      return exampleText(node);
    case 'number':
      return exampleNumber(node, shape.integer);
    case 'switch':
      return false;
    case 'choice':
      return shape.options[0]?.value ?? null;
    default:
      return null;
  }
}

const longest = 200;

function exampleText(node: JsonObject): string {
  const format = typeof node['format'] === 'string' ? formats[node['format']] : undefined;
  if (format !== undefined) return format;
  const least = Math.min(limit(node, 'minLength') ?? 0, longest);
  const text = 'text'.repeat(Math.max(1, Math.ceil(least / 4)));
  return text.slice(0, Math.max(least, Math.min(4, limit(node, 'maxLength') ?? 4)));
}

/**
 * Returns the number within the limits that is closest to 0 and a multiple of the step. It searches from the lower
 * limit.
 */
function exampleNumber(node: JsonObject, integer: boolean): Json {
  const given = limit(node, 'multipleOf');
  const step = given !== undefined && given > 0 ? given : integer ? 1 : undefined;
  const [least, above] = [limit(node, 'minimum'), limit(node, 'exclusiveMinimum')];
  const [most, below] = [limit(node, 'maximum'), limit(node, 'exclusiveMaximum')];
  const fits = (n: number): boolean =>
    (least === undefined || n >= least) &&
    (above === undefined || n > above) &&
    (most === undefined || n <= most) &&
    (below === undefined || n < below) &&
    (!integer || Number.isInteger(n));
  const from = Math.max(least ?? -Infinity, above ?? -Infinity);
  const to = Math.min(most ?? Infinity, below ?? Infinity);
  const near = candidates(from, to, step).find(fits);
  return near ?? node['minimum'] ?? 0;
}

function candidates(from: number, to: number, step: number | undefined): number[] {
  const edges = [from, to].filter(Number.isFinite);
  if (step === undefined) return [0, ...edges, from + 1, (from + to) / 2, to - 1].filter(Number.isFinite);
  // The search continues for two steps beyond a limit, because the limit may be exclusive.
  const up = [0, 1, 2].map((n) => (Math.ceil(from / step) + n) * step);
  const down = [0, 1, 2].map((n) => (Math.floor(to / step) - n) * step);
  return [0, ...up, ...down].filter(Number.isFinite).map((n) => Number(n.toPrecision(12)));
}

function limit(node: JsonObject, word: string): number | undefined {
  const value = plain(node[word] ?? null);
  return typeof value === 'number' ? value : undefined;
}
