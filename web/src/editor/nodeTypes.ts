// Loads Node's type declarations. They are large, so they are downloaded when a program uses Node.
const texts = import.meta.glob<string>(
  ['../../../node_modules/@types/node/**/*.d.ts', '!**/ts5.*/**', '../../../node_modules/undici-types/*.d.ts'],
  { query: '?raw', import: 'default', eager: true, exhaustive: true },
);

/** Returns the path at which the language service finds a declaration file. */
export const nodeTypes: [uri: string, text: string][] = Object.entries(texts).map(([path, text]) => [
  `file:///${path.slice(path.indexOf('node_modules'))}`,
  // Changes the type of a response's JSON to any, as in browsers. So a program may use the JSON without naming its
  // type.
  text.replace('json: () => Promise<unknown>', 'json: () => Promise<any>'),
]);
