// What all browser tests count together: the report adds up the lines of the file, if one is named.
import { appendFileSync } from 'node:fs';

export interface Tally {
  sessions?: number;
  /** Requests and sockets to another host. */
  foreign?: number;
  /** Violations of the content security policy. */
  policy?: number;
  screens?: number;
  /** Violations of WCAG on those screens. */
  axe?: number;
}

export function count(tally: Tally): void {
  const file = process.env['ATELIER_TEST_TALLY'];
  if (file !== undefined && file !== '') appendFileSync(file, `${JSON.stringify(tally)}\n`);
}
