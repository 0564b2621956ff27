import { describe, expect, it } from 'vitest';
import { bumped, isSemver } from './semver';

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
});
