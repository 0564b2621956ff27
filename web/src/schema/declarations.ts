// The declarations that the editor's language service reads for one agent.
import type { JsonSchema } from '../api/types';
import { toTypes } from './toTypes';

export function agentTypes(input: JsonSchema, output: JsonSchema, environment: Record<string, string>): string {
  const names = Object.keys(environment).map((name) => `  readonly ${JSON.stringify(name)}: string;\n`);
  return [
    '/** The input, as the input schema says. */\n',
    toTypes('Input', input),
    '/** What the program must return, as the output schema says. */\n',
    toTypes('Output', output),
    `interface Environment {\n${names.join('')}}\n`,
  ].join('');
}
