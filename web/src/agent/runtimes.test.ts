import { expect, test } from 'vitest';
import { hasChoice, isolationOptions, runtimeOptions } from './runtimes';

const typescript = {
  language: 'typescript',
  runtimes: ['goja', 'node'],
  entrypoint: 'main.ts',
  available: true,
  engines: [
    { runtime: 'goja', available: true },
    { runtime: 'node', available: false, reason: 'Install it.' },
  ],
} as const;

test('a runtime that is not there is shown with what is missing', () => {
  const options = runtimeOptions(
    { ...typescript, runtimes: [...typescript.runtimes], engines: [...typescript.engines] },
    'auto',
  );
  expect(options.map((o) => [o.runtime, o.missing])).toEqual([
    ['auto', undefined],
    ['goja', undefined],
    ['node', 'Install it.'],
  ]);
  expect(options[2]?.label).toContain('not available');
});

test('a runtime that leaves the machine says where programs run', () => {
  const known = { ...typescript, runtimes: ['goja', 'remote'], engines: [{ runtime: 'remote', available: true }] };
  expect(runtimeOptions(known, 'e2b').map((o) => o.label)).toEqual([
    'auto',
    'goja',
    'remote: at the service in remote.json',
    'e2b: in a sandbox of E2B',
  ]);
});

test('before the server has said what it can do there is auto and the present one', () => {
  expect(runtimeOptions(undefined, 'python').map((o) => o.runtime)).toEqual(['auto', 'python']);
});

test('an isolation that was removed is listed only for a draft that has it', () => {
  expect(isolationOptions('').map((o) => o.isolation)).toEqual(['', 'strict']);
  expect(isolationOptions('strict').map((o) => o.isolation)).toEqual(['', 'strict']);
  expect(isolationOptions('reuse').map((o) => o.isolation)).toEqual(['', 'strict', 'reuse']);
});

test('auto has a choice for JavaScript alone', () => {
  expect(hasChoice('javascript', 'auto')).toBe(true);
  expect(hasChoice('javascript', 'goja')).toBe(false);
  expect(hasChoice('bash', 'auto')).toBe(false);
});
