import { runInNewContext } from 'node:vm';
import { build } from 'vite';
import { describe, expect, test } from 'vitest';
import { asciiScripts, inAscii } from './asciiScripts';

describe('a script', () => {
  test('means in ASCII what it meant before', () => {
    const code = '({ "é": `ж😀`, Ā: /^[ж-я]$/.test("о"), astral: /^.$/u.test("😀"), raw: "\\\\n", after: "\\\\ж" })';
    const run = (text) => JSON.stringify(runInNewContext(text));
    expect(inAscii(code)).toMatch(/^[ -~]*$/);
    expect(run(inAscii(code))).toBe(run(code));
  });

  test('that would mean something else is refused', () => {
    expect(() => inAscii('"\\ж"')).toThrow('ASCII');
    expect(() => inAscii('"\\\\\\ж"')).toThrow('ASCII');
    expect(() => inAscii('String.raw`\\w` + "ж"')).toThrow('ASCII');
    expect(inAscii('String.raw`\\w`')).toBe('String.raw`\\w`');
  });
});

test('built scripts are ASCII, and their names are hashed afterwards', async () => {
  const entry = {
    name: 'entry',
    resolveId: (id) => (id === 'entry' ? id : null),
    load: (id) => (id === 'entry' ? 'console.log("ж");' : null),
  };
  const chunk = async (...plugins) => {
    const built = await build({
      configFile: false,
      logLevel: 'silent',
      plugins: [entry, ...plugins],
      build: { write: false, rolldownOptions: { input: 'entry' } },
    });
    return built.output[0];
  };
  const [plain, written] = [await chunk(), await chunk(asciiScripts())];
  expect(plain.code).toContain('ж');
  expect(written.code).toContain('\\u0436');
  expect(written.code).toMatch(/^[\n -~]*$/);
  expect(written.fileName).not.toBe(plain.fileName);
});
