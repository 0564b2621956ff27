// Counts violations in all browser tests. The test report adds up the lines of the file that an environment variable
// names.
import { appendFileSync } from 'node:fs';

export interface Tally {
  sessions?: number;
  /** The number of requests and sockets to another host. */
  foreign?: number;
  /** The number of violations of the content security policy. */
  policy?: number;
  screens?: number;
  /** The number of violations of WCAG and of axe's best practices on the checked screens. */
  axe?: number;
}

export function count(tally: Tally): void {
  const file = process.env['ATELIER_TEST_TALLY'];
  if (file !== undefined && file !== '') appendFileSync(file, `${JSON.stringify(tally)}\n`);
}
