// Node's type declarations. They are large, so they are fetched when a program uses Node.
const texts = import.meta.glob<string>(
  ['../../../node_modules/@types/node/**/*.d.ts', '!**/ts5.*/**', '../../../node_modules/undici-types/*.d.ts'],
  { query: '?raw', import: 'default', eager: true, exhaustive: true },
);

/** The path at which the language service finds each file. */
export const nodeTypes: [uri: string, text: string][] = Object.entries(texts).map(([path, text]) => [
  `file:///${path.slice(path.indexOf('node_modules'))}`,
  // As pages have it: a program may read the answer's JSON without naming its type.
  text.replace('json: () => Promise<unknown>', 'json: () => Promise<any>'),
]);
