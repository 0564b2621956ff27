import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { inAscii, inEnglish } from './english.mjs';

const english = `e.exports=JSON.parse('{"CodeAction":{"createTypeStub":{"message":"Create \\'it\\'","comment":"x"}}}')`;
const german = `o.exports=JSON.parse('{"CodeAction":{"createTypeStub":"Erstelle \\'es\\' für"}}')`;

describe('the worker in English', () => {
  test('has no other language, and reads the same', () => {
    expect(inEnglish(`${english};${german};t="ж"`)).toBe(`${english};o.exports=JSON.parse('{}');t="\\u0436"`);
  });

  test('is not made of a worker that looks different', () => {
    expect(() => inEnglish(german)).toThrow('not where they were');
    expect(() => inEnglish(english)).toThrow('not where they were');
  });

  test('means in ASCII what it meant before', () => {
    const code = '({ "é": `ж😀`, Ā: /^[ж-я]$/.test("о"), astral: /^.$/u.test("😀"), raw: "\\\\n" })';
    const run = (text) => JSON.stringify(runInNewContext(text));
    expect(inAscii(code)).toMatch(/^[ -~]*$/);
    expect(run(inAscii(code))).toBe(run(code));
    expect(() => inAscii('"\\ж"')).toThrow('ASCII');
    expect(() => inAscii('String.raw`ж`')).toThrow('ASCII');
  });
});
