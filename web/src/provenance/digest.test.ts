import { describe, expect, it } from 'vitest';
import { parseJson } from '../api/json';
import { canonical } from './canonical';
import type { Version } from '../api/types';
import { codeDigestOf, contentDigestOf, digestOf, versionDigestOf } from './digest';

describe('canonical text', () => {
  // The cases of internal/jcs in Go. Node 20 cannot keep the digits of a large integer; a browser test covers that.
  const cases: Record<string, [string, string]> = {
    'keys in order of UTF-16': [
      '{"\\u20ac":1,"\\ud83d\\ude00":2,"\\ufb33":3,"1":4,"a":5}',
      '{"1":4,"a":5,"€":1,"😀":2,"\ufb33":3}',
    ],
    'nested, without white space': ['{ "b":[{"d":1,"c":{}}], "a":[ ] }', '{"a":[],"b":[{"c":{},"d":1}]}'],
    'doubles as ECMAScript writes them': ['[1.0,1e2,4.50,2e-3,1E30,-0.0,-0]', '[1,100,4.5,0.002,1e+30,0,0]'],
    'escapes only what must be': ['"\\u0001\\u007f\\u2028<>&\\/\\n"', '"\\u0001\u007f\u2028<>&/\\n"'],
    words: ['[null,true,false]', '[null,true,false]'],
  };
  for (const [name, [text, want]] of Object.entries(cases)) {
    it(name, () => expect(canonical(parseJson(text))).toBe(want));
  }
});

it('a digest is of the canonical text', () => {
  expect(digestOf({})).toBe('sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
});

it('the digest of a program is that of the server', () => {
  // The golden digest of registry/digest.
  expect(codeDigestOf({ 'main.ts': 'export default 1', 'data.bin': { base64: '/wA=' } }, 'main.ts')).toBe(
    'sha256:8c0775a25cb6be8aeddf544842f1ee0f50edea0e6ebf61acecdeec017544d2ad',
  );
});

describe('the digests of a version are those of the server', () => {
  // The golden digests of registry/digest, including sets, absent fields and old formats.
  const code = 'sha256:8c0775a25cb6be8aeddf544842f1ee0f50edea0e6ebf61acecdeec017544d2ad';
  const content = 'sha256:0f4923013cd442f651ff88ba6c99369a022ad6f7b4c0c1ccee5b4cf41f936a70';
  const version = {
    ...{ agent: 'weather', title: 'Weather', description: 'Forecast for a city.', version: '1.2.0' },
    ...{ changelog: 'Adds Bergen.', language: 'typescript', runtime: 'goja', entrypoint: 'main.ts', files: {} },
    ...{ inputSchema: { type: 'object', properties: { days: { maximum: 7 } } }, outputSchema: {}, packages: [] },
    ...{ environment: { UNITS: 'metric' }, secrets: [], safetyFlags: ['none'] },
    capabilities: { hosts: [], hostFunctions: [], subprocess: false },
    limits: {
      ...{ timeoutMs: 30_000, cpuMs: 30_000, memoryBytes: 2 ** 28, processes: 64 },
      ...{ outputBytes: 2 ** 20, diskBytes: 2 ** 26, recursionDepth: 1000 },
    },
    ...{ requiresApproval: false, deterministic: false },
    ...{ agentId: 'a', publishedAt: '', publishedBy: '', deprecated: false },
    ...{ digest: '', contentDigest: '', codeDigest: '' },
  } satisfies Version;
  it('as a whole', () => {
    expect(contentDigestOf(version, code)).toBe(content);
    expect(versionDigestOf(version, content)).toBe(
      'sha256:a61c91f6ac1bcd6725dc61154d23fc3e58ac3ee8452f85274e3a35b0a1c4657d',
    );
  });
  it('whatever the order of its sets', () => {
    const hosts = (...names: string[]): string =>
      contentDigestOf({ ...version, capabilities: { ...version.capabilities, hosts: names } }, code);
    expect(hosts('a:1', 'b:2', 'a:1')).toBe(hosts('b:2', 'a:1'));
    expect(hosts('a:1')).not.toBe(content);
  });
  const changes: Record<string, Partial<Version>> = {
    title: { title: 'Other' },
    schema: { outputSchema: { type: 'object' } },
    environment: { environment: { UNITS: 'imperial' } },
    limits: { limits: { ...version.limits, cpuMs: 1 } },
    rules: { rules: { pack: 'restricted' } },
    isolation: { isolation: 'strict' },
    secrets: { secrets: ['KEY'] },
  };
  for (const [name, change] of Object.entries(changes))
    it(`other with another ${name}`, () => expect(contentDigestOf({ ...version, ...change }, code)).not.toBe(content));
});
