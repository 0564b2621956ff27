import { expect, test } from 'vitest';
import type { Verdict } from '../../api/types';
import { withoutRepeats } from './repeats';

const change = (message: string) => ({ message }) as Verdict['capabilityChanges'][number];

test('a change that a reason names is left out', () => {
  const verdict = { capabilityChanges: [change('newly reaches a.test:443 (main.py:5)'), change('newly writes files')] };
  const shown = withoutRepeats(verdict as Verdict, ['Newly reaches a.test:443 (main.py:5).']);
  expect(shown.capabilityChanges).toEqual([change('newly writes files')]);
});
