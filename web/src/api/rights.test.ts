import { expect, test } from 'vitest';
import { rightsOf, suffices } from './rights';

const known = (id: string, agents: string[] = []) => ({
  workspace: { id, name: id, title: id },
  agents: agents.map((agent) => ({ id: agent, name: agent })),
});

test('admin includes every scope, and a viewer only reads', () => {
  const admin = rightsOf({ ...known('default'), scopes: ['admin'], role: 'administrator' });
  const viewer = rightsOf({ ...known('default'), scopes: ['read'], role: 'viewer' });
  expect([admin.may('write'), admin.may('approve'), viewer.may('read'), viewer.may('run')]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(viewer.why('run')).toBe('This needs the role developer; yours is viewer.');
});

test('a session of a token has no role to speak of', () => {
  expect(rightsOf({ ...known('default'), scopes: ['run'] }).why('admin')).toBe('This needs the scope admin.');
  const role = 'administrator'; // of the user on whose behalf it acts
  expect(rightsOf({ ...known('default'), scopes: ['run'], role }).why('read')).toBe('This needs the scope read.');
});

test('only administrators of the server’s workspace run the server', () => {
  expect(rightsOf({ ...known('default'), scopes: ['admin'] }).runsServer).toBe(true);
  expect(rightsOf({ ...known('default'), scopes: ['approve'] }).runsServer).toBe(false);
  expect(rightsOf({ ...known('acme'), scopes: ['admin'] }).runsServer).toBe(false);
  expect(rightsOf({ ...known('default', ['weather']), scopes: ['admin'] }).runsServer).toBe(false);
  expect(rightsOf(undefined).runsServer).toBe(false);
});

test('a token for some agents sees these, and no lists', () => {
  const few = rightsOf({ ...known('default', ['weather', 'tides']), scopes: ['read'] });
  expect([few.may('read'), few.mayAnywhere('read'), few.mayAnywhere('run')]).toEqual([true, false, false]);
  expect(few.why('read')).toBe('This token works only for weather, tides.');
  expect(few.why('run')).toBe('This needs the scope run.');
});

test('a role is enough for what a lower one may do', () => {
  expect([suffices('approver', 'write'), suffices('viewer', 'run'), suffices(undefined, 'read')]).toEqual([
    true,
    false,
    false,
  ]);
});
