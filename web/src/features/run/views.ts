// Reads the views that an output schema requests with "x-view": Markdown, a table or a chart.
import { isObject, type Json } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { views as say } from '../../texts/run';
import { step, tableOf, type Table } from './shown';

export type ChartKind = 'line' | 'area' | 'bar' | 'scatter';
const chartKinds: readonly ChartKind[] = ['line', 'area', 'bar', 'scatter'];

export interface Chart {
  kind: ChartKind;
  x: string;
  /** The values are numbers, seconds since 1970, or positions of labels. */
  xs: number[];
  scale: 'number' | 'time' | 'label';
  labels: string[];
  series: { name: string; values: (number | null)[] }[];
}

export type View = { path: string } & (
  | { kind: 'markdown' | 'text'; text: string }
  | { kind: 'table'; table: Table }
  | { kind: 'chart'; chart: Chart }
  | { kind: 'problem'; message: string }
);

const mostPoints = 10_000;

/** Returns the views of the output and of its properties, in the order of the schema. */
export function viewsOf(output: Json, schema: JsonSchema | undefined): View[] {
  if (!isObject(schema)) return [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const parts: [string, Json | undefined, Json | undefined][] = [
    ['$', output, schema],
    ...Object.entries(properties).map(([key, sub]): [string, Json | undefined, Json] => [
      `$${step(key)}`,
      isObject(output) ? output[key] : undefined,
      sub,
    ]),
  ];
  return parts.flatMap(([path, value, of]) => {
    const hint = isObject(of) ? of['x-view'] : undefined;
    return hint === undefined || value === undefined ? [] : [{ path, ...viewOf(value, hint) }];
  });
}

type Content<T = View> = T extends View ? Omit<T, 'path'> : never;
const problem = (message: string): Content => ({ kind: 'problem', message });

function viewOf(value: Json, hint: Json): Content {
  if (hint === 'markdown' || hint === 'text')
    return typeof value === 'string' ? { kind: hint, text: value } : problem(say.needsText(hint));
  const table = tableOf(value);
  if (hint === 'table') return table ? { kind: 'table', table } : problem(say.needsRows(hint));
  if (!isObject(hint) || hint['chart'] === undefined) return problem(say.unknown);
  const kind = chartKinds.find((known) => known === hint['chart']);
  if (!kind) return problem(say.unknownChart(chartKinds.join(', ')));
  if (!table) return problem(say.needsRows('chart'));
  const [x, ys] = [hint['x'], hint['y']];
  const names = (Array.isArray(ys) ? ys : [ys]).filter((y) => typeof y === 'string');
  if (typeof x !== 'string' || names.length === 0) return problem(say.needsAxes);
  return chartOf(kind, table, x, names);
}

function chartOf(kind: ChartKind, { columns, rows }: Table, x: string, names: string[]): Content {
  const missing = [x, ...names].find((name) => !columns.includes(name));
  if (missing !== undefined) return problem(say.noColumn(missing));
  if (rows.length > mostPoints) return problem(say.tooMany(mostPoints));
  const column = (name: string): Json[] => rows.map((row) => row[columns.indexOf(name)] ?? null);
  const series = names.map((name) => ({ name, values: column(name).map(numberOf) }));
  const empty = series.find(({ values }) => values.every((value) => value === null));
  if (empty) return problem(say.noNumbers(empty.name));
  return { kind: 'chart', chart: sorted({ kind, x, series, ...axisOf(column(x)) }) };
}

const numberOf = (value: Json): number | null => (typeof value === 'number' ? value : null);
const day = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2})?)?$/;

function axisOf(values: Json[]): Pick<Chart, 'xs' | 'scale' | 'labels'> {
  if (values.every((value) => typeof value === 'number')) return { xs: values, scale: 'number', labels: [] };
  const times = values.map((value) => (typeof value === 'string' && day.test(value) ? Date.parse(value) / 1000 : NaN));
  if (times.every((time) => !Number.isNaN(time))) return { xs: times, scale: 'time', labels: [] };
  const labels = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return { xs: labels.map((_, i) => i), scale: 'label', labels };
}

/** A line needs ascending positions. */
function sorted(chart: Chart): Chart {
  const order = chart.xs.map((x, i) => ({ x, i })).sort((a, b) => a.x - b.x);
  return {
    ...chart,
    xs: order.map(({ x }) => x),
    series: chart.series.map(({ name, values }) => ({ name, values: order.map(({ i }) => values[i] ?? null) })),
  };
}
