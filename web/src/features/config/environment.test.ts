import { describe, expect, it } from 'vitest';
import { environmentFault, toEnvironment, variableFault, type Variable } from './environment';

const rows = (...pairs: [string, string][]): Variable[] => pairs.map(([name, value], id) => ({ id, name, value }));

describe('environment', () => {
  it('rejects reserved names and invalid names', () => {
    const table = rows(['PATH', 'x'], ['LD_PRELOAD', 'x'], ['1A', 'x'], ['', 'x'], ['OK', 'x'], ['OK', 'y']);
    expect(table.map((_, i) => variableFault(table, i) === undefined)).toEqual([
      false,
      false,
      false,
      false,
      true,
      false,
    ]);
    expect(toEnvironment(table)).toEqual({ OK: 'x' });
    const bash = rows(['BASH_ENV', 'x'], ['POSIXLY_CORRECT', 'x'], ['__atelier_tag', 'x'], ['IFS', 'x'], ['ENV', 'x']);
    expect(toEnvironment(bash)).toEqual({});
  });
  it('is bounded', () => {
    expect(environmentFault(rows(['A', 'x'.repeat(33_000)]))).toContain('32 KiB');
    expect(environmentFault(rows(...Array.from({ length: 65 }, (_, i): [string, string] => [`V${i}`, ''])))).toContain(
      '64',
    );
  });
});
