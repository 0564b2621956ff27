import { describe, expect, it } from 'vitest';
import type { SaveState } from '../agents/session';
import { hostProblems, sameHosts, toHosts, withHosts } from './hosts';

describe('hosts', () => {
  it('are the lines that hold something', () => {
    expect(toHosts(' api.example.com:443 \n\n*.example.org:443\n')).toEqual([
      'api.example.com:443',
      '*.example.org:443',
    ]);
    expect(toHosts(' \n')).toEqual([]);
    expect(sameHosts(['a:1'], ['a:1'])).toBe(true);
    expect(sameHosts(['a:1'], ['b:1'])).toBe(false);
  });
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
