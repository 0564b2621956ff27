// The declarations that the editor's language services read for one agent.
import type { JsonSchema } from '../api/types';
import { toPython } from './toPython';
import { toTypes } from './toTypes';

export interface AgentTypes {
  /** A .d.ts. */
  typescript: string;
  /** A .pyi of Input, Output and Environment. */
  python: string;
}

/** Names are the variables and secrets that the program finds in ctx.env. */
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
