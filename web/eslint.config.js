import js from '@eslint/js';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import hooks from 'eslint-plugin-react-hooks';
import { readdirSync } from 'node:fs';
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
  ['diff', 'frame'],
  ['features'],
  ['workbench'],
  ['app'],
];

const layerZones = layers.slice(0, -1).flatMap((packages, at) =>
  packages.map((name) => ({
    target: `${source}/${name}`,
    from: [...packages.filter((other) => other !== name), ...layers.slice(at + 1).flat()].map(
      (other) => `${source}/${other}`,
    ),
    message: `web/src/${name} imports only packages of lower layers (see layers in web/eslint.config.js).`,
  })),
);

const featureZones = readdirSync(`${source}/features`).map((name) => ({
  target: `${source}/features/${name}`,
  from: `${source}/features`,
  except: [`./${name}`],
  message: 'A feature does not import another feature. Move the shared part to a package of a lower layer.',
}));

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
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.tsx', '.js'] })] },
    rules: { 'import-x/no-restricted-paths': ['error', { zones: [...layerZones, ...featureZones] }] },
  },
  { files: ['**/src/api/**/*.ts'], rules: { 'no-restricted-globals': 'off' } },
  {
    files: ['**/e2e/**/*.ts'],
    rules: { 'no-restricted-globals': 'off', '@typescript-eslint/unbound-method': 'off' },
  },
  { files: ['**/*.{js,mjs}'], languageOptions: { globals: { ...globals.node, ...globals.browser } } },
);
