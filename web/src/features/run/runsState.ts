// Reads and writes the filters of the run list in the URL.
import type { RunStatus } from '../../api/types';

export interface RunsState {
  status?: string;
  agent?: string;
  range?: string;
}

export const statuses: RunStatus[] = [
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  'blocked',
  'interrupted',
  'running',
  'queued',
];

export const ranges = [
  { range: '1h', ms: 3_600_000 },
  { range: '24h', ms: 86_400_000 },
  { range: '7d', ms: 7 * 86_400_000 },
  { range: '30d', ms: 30 * 86_400_000 },
] as const;

export function readRuns(search: string): RunsState {
  const query = new URLSearchParams(search);
  const state: RunsState = {};
  const status = query.get('status') ?? '';
  if (statuses.some((known) => known === status)) state.status = status;
  const agent = query.get('agent') ?? '';
  if (agent !== '') state.agent = agent;
  const range = query.get('range') ?? '';
  if (ranges.some((known) => known.range === range)) state.range = range;
  return state;
}

export function runsUrl(state: RunsState): string {
  const said = Object.entries({ status: state.status, agent: state.agent, range: state.range }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const query = new URLSearchParams(said).toString();
  return query === '' ? '/runs' : `/runs?${query}`;
}

/** Returns the start of a time range in the format of the API. */
export function sinceOf({ range }: RunsState, now: number): string {
  const known = ranges.find((r) => r.range === range);
  return known ? new Date(now - known.ms).toISOString() : '';
}
