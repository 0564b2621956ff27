// Writes one JSON line per journey to the file that scripts/bench reads.
import { appendFileSync } from 'node:fs';

const file = process.env['ATELIER_TIMINGS'];
export const rounds = Number(process.env['ATELIER_TIMINGS_ROUNDS'] ?? '5');

/** Records one value per round: milliseconds, or megabytes of memory. */
export function report(journey: string, values: number[]): void {
  const line = JSON.stringify({ journey, values: values.map((value) => Math.round(value * 10) / 10) });
  if (file === undefined) console.log(line);
  else appendFileSync(file, `${line}\n`);
}

/** Collects the values of several journeys over all rounds. */
export class Sheet {
  private readonly columns = new Map<string, number[]>();

  add(journey: string, value: number): void {
    this.columns.set(journey, [...(this.columns.get(journey) ?? []), value]);
  }

  report(): void {
    for (const [journey, values] of this.columns) report(journey, values);
  }
}

/** Returns the value at a percentile. */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}
