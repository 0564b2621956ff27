import js from '@eslint/js';
import hooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import tseslint from 'typescript-eslint';

const network = 'Only web/src/api may use the network.';

export default tseslint.config(
  { ignores: ['**/dist/**', '**/schema.d.ts', '**/node_modules/**'] },
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
  { files: ['**/src/api/**/*.ts'], rules: { 'no-restricted-globals': 'off' } },
  {
    files: ['**/e2e/**/*.ts'],
    rules: { 'no-restricted-globals': 'off', '@typescript-eslint/unbound-method': 'off' },
  },
  { files: ['**/*.{js,mjs}'], languageOptions: { globals: { ...globals.node, ...globals.browser } } },
);
