// Counts violations over all browser tests. The report adds up the lines of the named file.
import { appendFileSync } from 'node:fs';

export interface Tally {
  sessions?: number;
  /** Requests and sockets to another host. */
  foreign?: number;
  /** Violations of the content security policy. */
  policy?: number;
  screens?: number;
  /** Violations of WCAG and of axe's best practice on the checked screens. */
  axe?: number;
}

export function count(tally: Tally): void {
  const file = process.env['ATELIER_TEST_TALLY'];
  if (file !== undefined && file !== '') appendFileSync(file, `${JSON.stringify(tally)}\n`);
}
