import { describe, expect, it } from 'vitest';
import { bumped, isSemver, isSmaller } from './semver';

describe('semver', () => {
  it('bumps', () => {
    expect([bumped('1.2.3', 'major'), bumped('1.2.3', 'minor'), bumped('1.2.3', 'patch')]).toEqual([
      '2.0.0',
      '1.3.0',
      '1.2.4',
    ]);
    expect(bumped('', 'major')).toBeUndefined();
  });
  it('knows a version', () => {
    expect(['1.0.0', '1.0.0-rc.1', '1.0', 'v1.0.0', '01.0.0'].map(isSemver)).toEqual([true, true, false, false, false]);
  });

  it.each([
    ['1.2.1', '2.0.0', true],
    ['1.3.0', '2.0.0', true],
    ['2.0.0-rc.1', '2.0.0', false],
    ['2.0.0', '2.0.0', false],
    ['10.0.0', '2.0.0', false],
    ['0.2.1', '0.3.0', true],
    ['1.2.4', '1.2.4', false],
    ['1.1.9', '1.2.0', true],
    ['nonsense', '2.0.0', false],
    ['1.0.0', '', false],
  ])('%s is smaller than the advised %s: %s', (version, advised, smaller) => {
    expect(isSmaller(version, advised)).toBe(smaller);
  });
});
