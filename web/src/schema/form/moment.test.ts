import { describe, expect, it } from 'vitest';
import { fromLocal, toLocal } from './moment';

describe('moments', () => {
  it('times survive conversion to a field and back', () => {
    for (const text of ['2026-03-01T09:30:00Z', '2026-03-01T09:30:15.250Z', '0099-12-31T23:59:59Z'])
      expect(fromLocal(toLocal(text) ?? '')).toBe(text);
    expect(fromLocal(toLocal('2026-03-01T09:30:00+05:30') ?? '')).toBe('2026-03-01T04:00:00Z');
  });

  it('invalid text stays editable, and an empty field has no value', () => {
    expect([toLocal('tomorrow'), toLocal(''), fromLocal('')]).toEqual([undefined, undefined, undefined]);
  });
});
