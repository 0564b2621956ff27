import { describe, expect, it } from 'vitest';
import type { SaveState } from '../draft/session';
import { hostProblems, withHosts } from './hosts';

describe('hosts', () => {
  it('are added once', () => {
    expect(withHosts(['a:1'], ['a:1', 'b:2'])).toEqual(['a:1', 'b:2']);
  });
  it('are named in what the server says about them', () => {
    const save: SaveState = {
      kind: 'refused',
      message: '',
      fields: [
        { pointer: '/capabilities/hosts/1', message: 'must end in a port.' },
        { pointer: '/capabilities/hosts', message: 'must have at most 64 entries.' },
        { pointer: '/limits/cpuMs', message: 'no' },
      ],
    };
    expect(hostProblems(save, ['a:1', 'b'])).toEqual(['b must end in a port.', 'must have at most 64 entries.']);
    expect(hostProblems({ kind: 'saved' }, [])).toEqual([]);
  });
});
