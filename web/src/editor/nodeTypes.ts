// What Node declares: its globals and its modules. It is large, so that it is fetched once a program runs there.
const texts = import.meta.glob<string>(
  ['../../../node_modules/@types/node/**/*.d.ts', '!**/ts5.*/**', '../../../node_modules/undici-types/*.d.ts'],
  { query: '?raw', import: 'default', eager: true, exhaustive: true },
);

/** Where the language service finds each file. */
export const nodeTypes: [uri: string, text: string][] = Object.entries(texts).map(([path, text]) => [
  `file:///${path.slice(path.indexOf('node_modules'))}`,
  text,
]);
