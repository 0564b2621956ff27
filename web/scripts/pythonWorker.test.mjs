import { build } from 'vite';
import { describe, expect, test } from 'vitest';
import { inEnglish, shortPythonWorker, withoutPackages } from './pythonWorker';

const english = `e.exports=JSON.parse('{"CodeAction":{"createTypeStub":{"message":"Create \\'it\\'","comment":"x"}}}')`;
const german = `o.exports=JSON.parse('{"CodeAction":{"createTypeStub":"Erstelle \\'es\\' für"}}')`;

const types = (...files) => `e.exports={${files.map((file) => `"/typeshed/${file}`).join(',')}}`;
const own = 'stdlib/os.pyi":"x: int"';

test('the worker has types of the standard library alone', () => {
  const yaml = `stubs/PyYAML/yaml/__init__.pyi":'def load(a="\\'"): ...\\n'`;
  const toml = 'stubs/toml/toml.pyi":"# \\"toml\\","';
  expect(withoutPackages(types('README.md":"r"', yaml, toml, own))).toBe(types('README.md":"r"', own));
  expect(() => withoutPackages(types(own))).toThrow('not where they were');
  expect(() => withoutPackages(types(yaml, 'stubs/a.pyi":`b`', own))).toThrow('not where they were');
});

describe('the worker in English', () => {
  test('has no other language, and reads the same', () => {
    expect(inEnglish(`${english};${german};t="ж"`)).toBe(`${english};o.exports=JSON.parse('{}');t="\\u0436"`);
  });

  test('is not made of a worker that looks different', () => {
    expect(() => inEnglish(german)).toThrow('not where they were');
    expect(() => inEnglish(english)).toThrow('not where they were');
  });
});

test('the worker is named by what is left of it', async () => {
  const entry = {
    name: 'entry',
    resolveId: (id) => (id === 'entry' ? id : null),
    load: (id) =>
      id === 'entry' ? "export { default } from 'browser-basedpyright/dist/pyright.worker.js?url';" : null,
  };
  const worker = async (...plugins) => {
    const built = await build({
      configFile: false,
      logLevel: 'silent',
      plugins: [entry, ...plugins],
      build: { write: false, assetsInlineLimit: 0, rolldownOptions: { input: 'entry' } },
    });
    return built.output.find(({ fileName }) => fileName.includes('pyright.worker-'));
  };
  const [whole, short] = [await worker(), await worker(shortPythonWorker())];
  expect(short.source).not.toContain('/typeshed/stubs/');
  expect(short.fileName).not.toBe(whole.fileName);
}, 60_000); // it bundles the worker twice
