import { expect, test } from 'vitest';
import { rightsOf } from './rights';

test('admin stands for every scope, and a viewer only reads', () => {
  const admin = rightsOf({ scopes: ['admin'], role: 'administrator' });
  const viewer = rightsOf({ scopes: ['read'], role: 'viewer' });
  expect([admin.may('write'), admin.may('approve'), viewer.may('read'), viewer.may('run')]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(viewer.why('run')).toBe('This needs the role developer, and yours is viewer.');
});

test('a session of a token has no role to speak of', () => {
  expect(rightsOf({ scopes: ['run'] }).why('admin')).toBe('This needs the scope admin.');
});
