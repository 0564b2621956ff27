// Declares the agents that a program may call, as functions of the module "agents".
import type { JsonSchema } from '../api/types';
import { isKeyword, parametersOf, toPython } from './toPython';
import { toTypes } from './toTypes';
import type { AgentTypes } from './declarations';

/** An agent that a program may call. */
export interface CalledAgent {
  /** The reference in the draft, such as shout@^1. */
  reference: string;
  /** The data of the version. Without it, the input and the output may have any type. */
  version?: { version: string; title: string; description: string; inputSchema: JsonSchema; outputSchema: JsonSchema };
}

/**
 * Declares a function of the module "agents" for each agent. It also declares the input and the output of each agent
 * for ctx.callTool.
 */
export function calledTypes(agents: readonly CalledAgent[]): AgentTypes {
  if (agents.length === 0) return { typescript: '', python: '' };
  const types: string[] = [];
  const functions: string[] = [];
  const overloads: string[] = [];
  const stubs = ['from typing import Any, Literal, Never, NotRequired, TypeAlias, TypedDict, overload\n\n'];
  for (const { reference, version } of agents) {
    const agent = agentOf(reference);
    const key = agent.replaceAll('-', '_');
    const input = `Agent_${key}_Input`;
    const output = `Agent_${key}_Output`;
    const inputSchema = version?.inputSchema ?? true;
    const about = aboutOf(agent, version);
    types.push(toTypes(input, inputSchema), toTypes(output, version?.outputSchema ?? true));
    const mark = needsInput(inputSchema) ? '' : '?';
    const signature = `(input${mark}: ${input}): Promise<${version ? output : 'any'}>;\n`;
    functions.push(
      `  /** ${about.replaceAll('*/', '* /')} */\n  export function ${nameIn(key, reservedWords)}${signature}`,
    );
    const names = [...new Set([reference, agent, key])].map((name) => JSON.stringify(name)).join(' | ');
    overloads.push(`  callTool${signature.replace('(', `(reference: ${names}, `)}`);
    stubs.push(pythonOf(nameIn(key, isKeyword), about, inputSchema, version?.outputSchema ?? true));
  }
  return {
    typescript: `${types.join('')}declare module 'agents' {\n${functions.join('')}}\ninterface Ctx {\n${overloads.join('')}}\n`,
    python: stubs.join(''),
  };
}

const agentOf = (reference: string): string => reference.replace(/@.*$/s, '');

function aboutOf(agent: string, version: CalledAgent['version']): string {
  if (!version) return agent;
  const text = (version.description || version.title).replace(/\s+/g, ' ').trim();
  return `${text} (${agent}@${version.version})`.trim();
}

const needsInput = (schema: JsonSchema): boolean =>
  typeof schema === 'object' && Array.isArray(schema['required']) && schema['required'].length > 0;

/** Returns the name of the function. A reserved word gets an underscore at its end, as at run time. */
const nameIn = (key: string, reserved: (name: string) => boolean): string => (reserved(key) ? `${key}_` : key);

function pythonOf(name: string, about: string, inputSchema: JsonSchema, outputSchema: JsonSchema): string {
  const input = `${name}_Input`;
  const output = `${name}_Output`;
  const required =
    typeof inputSchema === 'object' && Array.isArray(inputSchema['required']) ? inputSchema['required'] : [];
  const named = parametersOf(inputSchema);
  const properties = typeof inputSchema === 'object' ? (inputSchema['properties'] ?? {}) : {};
  // A property whose name is not an identifier can only be passed in a dictionary.
  const keywords = named.length === Object.keys(properties).length && named.length > 0;
  const parameters = named.map(([key]) => `, ${key}: ${input}_${key}${required.includes(key) ? '' : ' = ...'}`);
  const doc = `    ${JSON.stringify(about)}\n`;
  const whole = `def ${name}(input: ${input}${needsInput(inputSchema) ? '' : ' = ...'}, /) -> ${output}:\n${doc}`;
  const byName = keywords
    ? `@overload\n${whole}@overload\ndef ${name}(*${parameters.join('')}) -> ${output}:\n${doc}`
    : whole;
  return `${toPython(input, inputSchema)}${toPython(output, outputSchema)}${byName}\n`;
}

const reserved = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends ' +
    'false finally for function if implements import in instanceof interface let new null package private protected ' +
    'public return static super switch this throw true try typeof var void while with yield'
  ).split(' '),
);
const reservedWords = (name: string): boolean => reserved.has(name);
