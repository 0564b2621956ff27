import { expect, test } from 'vitest';
import { namesIn, tokenState } from './scopes';

test('names are separated by commas or spaces, and count once', () => {
  expect(namesIn(' weather, report  weather\n')).toEqual(['weather', 'report']);
  expect(namesIn(' , ')).toEqual([]);
});

test('a token is open until it expires or is revoked', () => {
  const now = Date.parse('2026-11-22T12:00:00Z');
  expect(tokenState({}, now)).toBe('open');
  expect(tokenState({ expiresAt: '2026-11-22T12:00:01Z' }, now)).toBe('open');
  expect(tokenState({ expiresAt: '2026-11-22T12:00:00Z' }, now)).toBe('expired');
  expect(tokenState({ expiresAt: '2026-11-22T11:00:00Z', revokedAt: '2026-11-22T10:00:00Z' }, now)).toBe('revoked');
});
