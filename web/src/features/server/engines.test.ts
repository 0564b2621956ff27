import { describe, expect, it } from 'vitest';
import type { Capabilities, RuntimeState } from '../../api/types';
import { enginesOf, reasonsOf, unavailableOf } from './engines';

type LanguageState = Capabilities['languages'][number];

const state = (runtime: string, language: RuntimeState['language'], ready: boolean): RuntimeState => ({
  runtime,
  language,
  ready,
  features: [],
  workers: { idle: 0, busy: 0, preparing: 0, waiting: 0, started: 0, died: 0, retired: 0 },
  queue: { depth: 0, running: 0 },
});

const language = (name: LanguageState['language'], rest: Partial<LanguageState>): LanguageState => ({
  language: name,
  available: true,
  entrypoint: 'main',
  runtimes: [],
  ...rest,
});

describe('engines of the server', () => {
  it('an engine is one row with the languages that it runs', () => {
    const rows = enginesOf([
      state('goja', 'typescript', true),
      state('goja', 'javascript', true),
      state('remote', 'python', false),
      state('remote', 'bash', true),
      state('e2b', 'python', false),
      state('e2b', 'bash', false),
    ]);
    expect(rows.map(({ runtime, ready, languages }) => [runtime, ready, languages])).toEqual([
      ['goja', true, ['typescript', 'javascript']],
      ['remote', true, ['bash']],
      ['e2b', false, ['python', 'bash']],
    ]);
  });

  it('an engine of several languages has its reason once', () => {
    const e2b = { runtime: 'e2b', available: false, reason: 'Set --e2b-key.' };
    const found = reasonsOf([
      language('python', { engines: [{ runtime: 'python', available: true }, e2b] }),
      language('bash', { engines: [{ runtime: 'bash', available: true }, e2b] }),
    ]);
    expect([...found]).toEqual([['e2b', 'Set --e2b-key.']]);
  });
});

describe('unavailable languages', () => {
  it('a language that another engine runs is not listed', () => {
    const engines = [
      { runtime: 'python', available: false, reason: 'No interpreter.' },
      { runtime: 'remote', available: true },
    ];
    expect(unavailableOf([language('python', { available: false, engines })])).toEqual([]);
  });

  it('a language without a working engine is listed with the reason of each engine', () => {
    const engines = [
      { runtime: 'python', available: false, reason: 'No interpreter.' },
      { runtime: 'e2b', available: false, reason: 'Set --e2b-key.' },
    ];
    expect(unavailableOf([language('python', { available: false, engines })])).toEqual([
      {
        languages: ['python'],
        reasons: [
          { runtime: 'python', reason: 'No interpreter.' },
          { runtime: 'e2b', reason: 'Set --e2b-key.' },
        ],
      },
    ]);
  });

  it('languages without engines are listed, together if their reason is the same', () => {
    const reason = 'This machine has no user namespaces.';
    expect(
      unavailableOf([
        language('python', { available: false, reason }),
        language('bash', { available: false, reason }),
        language('wasm', { available: false, reason: 'The self-test failed.' }),
      ]),
    ).toEqual([
      { languages: ['python', 'bash'], reasons: [{ reason }] },
      { languages: ['wasm'], reasons: [{ reason: 'The self-test failed.' }] },
    ]);
  });
});
