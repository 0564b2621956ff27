import { describe, expect, it } from 'vitest';
import type { Imported } from '../../api/types';
import { changes, refusal, summary } from './outcome';

const agent = (outcome: Imported['outcome'], added: number, kept: number): Imported => ({
  name: 'a',
  outcome,
  added,
  kept,
  names: 0,
  listed: false,
});

describe('the report of an import', () => {
  it.each<[string, Imported[], boolean, string]>([
    ['is empty', [], false, 'The archive is valid, but holds no agents.'],
    [
      'brings nothing',
      [agent('unchanged', 0, 2)],
      false,
      'Nothing to import: 1 agent in the archive, all already here.',
    ],
    [
      'will bring',
      [agent('created', 2, 0), agent('extended', 1, 1)],
      false,
      'The archive is valid. Importing adds 2 agents with 3 versions.',
    ],
    [
      'has brought',
      [agent('restored', 1, 0), agent('unchanged', 0, 1)],
      true,
      'Imported 1 agent with 1 version; 1 was already here.',
    ],
  ])('%s', (_, agents, done, words) => {
    expect(summary({ agents, dryRun: !done }, done)).toBe(words);
  });
  it('promises that nothing was written for a check alone', () => {
    expect(refusal(true)).toContain('nothing was imported');
    expect(refusal(false)).not.toContain('nothing was imported');
  });
  it('can be no more than a listing', () => {
    const here = { agents: [{ ...agent('unchanged', 0, 1), listed: true }], dryRun: true };
    expect(changes(here, false)).toBe(false);
    expect(changes(here, true)).toBe(true);
    expect(changes({ agents: [agent('extended', 1, 0)], dryRun: true }, false)).toBe(true);
  });
});
