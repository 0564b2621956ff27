import js from '@eslint/js';
import hooks from 'eslint-plugin-react-hooks';
import { statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import globals from 'globals';
import tseslint from 'typescript-eslint';

const network = 'Only web/src/api may use the network.';

const source = `${import.meta.dirname}/src`;

// The packages of web/src from the bottom layer to the top. A package imports packages of lower layers only.
const layers = [
  ['texts'],
  ['api'],
  ['state'],
  ['ui'],
  ['editor', 'schema', 'provenance'],
  ['console', 'draft'],
  ['agent'],
  ['verdict'],
  ['diff', 'frame'],
  ['features'],
  ['workbench'],
  ['app'],
];

// packageOf splits a path of a source file into the package and, for features, the feature.
function packageOf(path) {
  const [name = '', feature = ''] = relative(source, path).split('/');
  return name.startsWith('..') ? {} : { name, feature: name === 'features' ? feature : '' };
}

// refusal says why a file must not import another, or returns undefined.
function refusal(file, imported) {
  const from = packageOf(file);
  const to = packageOf(imported);
  const low = layers.findIndex((packages) => packages.includes(from.name));
  const high = layers.findIndex((packages) => packages.includes(to.name));
  if (low < 0 || high < 0) return undefined;
  if (from.name === to.name) {
    return from.feature === to.feature ||
      !statSync(join(source, 'features', to.feature), { throwIfNoEntry: false })?.isDirectory()
      ? undefined
      : 'A feature does not import another feature. Move the shared part to a package of a lower layer.';
  }
  return high < low
    ? undefined
    : `web/src/${from.name} imports only packages of lower layers (see layers in web/eslint.config.js).`;
}

// layered checks static and dynamic imports. A rule of our own needs no resolver with a binary for each platform.
const layered = {
  create(context) {
    const check = (node) => {
      const text = node.source?.value;
      if (typeof text !== 'string' || !text.startsWith('.')) return;
      const message = refusal(context.filename, resolve(dirname(context.filename), text));
      if (message !== undefined) context.report({ node, message });
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      TSImportType: check,
    };
  },
};

export default tseslint.config(
  { ignores: ['**/dist/**', '**/schema.d.ts', '**/node_modules/**', '**/e2e/idioms/**'] },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    plugins: { 'react-hooks': hooks },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      'no-alert': 'error',
      'no-restricted-globals': ['error', { name: 'fetch', message: network }, { name: 'WebSocket', message: network }],
      'no-restricted-syntax': [
        'error',
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'Text reaches the page as text.' },
      ],
    },
  },
  {
    files: ['**/src/**/*.{ts,tsx}'],
    ignores: ['**/*.test.ts'],
    plugins: { atelier: { rules: { layered } } },
    rules: { 'atelier/layered': 'error' },
  },
  { files: ['**/src/api/**/*.ts'], rules: { 'no-restricted-globals': 'off' } },
  {
    files: ['**/e2e/**/*.ts'],
    rules: { 'no-restricted-globals': 'off', '@typescript-eslint/unbound-method': 'off' },
  },
  { files: ['**/*.{js,mjs}'], languageOptions: { globals: { ...globals.node, ...globals.browser } } },
);
