import { describe, expect, it } from 'vitest';
import { parseJson } from '../api/json';
import { canonical } from './canonical';
import { codeDigestOf, digestOf } from './digest';

describe('canonical text', () => {
  // The same as in internal/canon, in Go. Node 20 cannot keep the digits of a big integer; the browser test has one.
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
  // The golden one of registry/digest.
  expect(codeDigestOf({ 'main.ts': 'export default 1', 'data.bin': { base64: '/wA=' } }, 'main.ts')).toBe(
    'sha256:8c0775a25cb6be8aeddf544842f1ee0f50edea0e6ebf61acecdeec017544d2ad',
  );
});
