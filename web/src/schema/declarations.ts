// Generates the type declarations of one agent for the editor's language services.
import type { JsonSchema } from '../api/types';
import { toPython } from './toPython';
import { toTypes } from './toTypes';

export interface AgentTypes {
  /** The text of a .d.ts file. */
  typescript: string;
  /** The text of a .pyi file with Input, Output and Environment. */
  python: string;
}

/** Generates the declarations. `names` are the variables and secrets in ctx.env. */
export function agentTypes(input: JsonSchema, output: JsonSchema, names: string[]): AgentTypes {
  const fields = names.map((name) => `  readonly ${JSON.stringify(name)}: string;\n`);
  const typescript = [
    '/** The input, as the input schema says. */\n',
    toTypes('Input', input),
    '/** What the program must return, as the output schema says. */\n',
    toTypes('Output', output),
    `interface Environment {\n${fields.join('')}}\n`,
  ].join('');
  const variables = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  const python = [
    toPython('Input', input),
    toPython('Output', output),
    toPython('Environment', { type: 'object', properties: variables, required: names }),
  ].join('');
  return { typescript, python };
}

/**
 * Declares the npm packages of an agent as modules of any type, so that their imports are not errors. Installed
 * declarations replace these modules.
 */
export function packageTypes(packages: readonly string[], files: Record<string, string> = {}): string {
  const typed = (name: string): boolean =>
    Object.keys(files).some((path) => path.startsWith(`node_modules/${name}/`) && /\.d\.[cm]?ts$/.test(path));
  const names = packages
    .map((text) => text.trim().replace(/(.)@.*$/s, '$1'))
    .filter((name) => /^[@\w./~-]+$/.test(name) && !typed(name));
  return names.map((name) => `declare module '${name}';\ndeclare module '${name}/*';\n`).join('');
}
