import { expect, test } from 'vitest';
import { filesOf } from './preload';

const chunk = (name, facadeModuleId, imports = [], css = []) => ({
  type: 'chunk',
  fileName: `assets/${name}.js`,
  facadeModuleId,
  imports: imports.map((other) => `assets/${other}.js`),
  viteMetadata: { importedCss: new Set(css) },
});
const page = chunk('page', '/web/src/workbench/AgentPage.tsx', ['shared'], ['assets/page.css']);
const kit = chunk('kit', '/web/src/editor/kit.ts', ['monaco', 'shared']);

test('only the editor’s files are preloaded', () => {
  const monaco = chunk('monaco', null, ['shared'], ['assets/monaco.css']);
  const bundle = [page, kit, monaco, chunk('shared', null), chunk('lazy', '/web/src/lazy.tsx', ['shared'])];
  expect(filesOf([...bundle, { type: 'asset', fileName: 'font.woff2' }]).sort()).toEqual(
    ['kit.js', 'monaco.css', 'monaco.js', 'page.css', 'page.js', 'shared.js'].map((name) => `assets/${name}`),
  );
});

test('an entry that was moved is no silent loss', () => {
  expect(() => filesOf([page, chunk('shared', null)])).toThrow('/src/editor/kit.ts has no chunk');
});
