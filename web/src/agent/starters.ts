// Contains the starter programs of "New agent", one small program per language.
import type { AgentBody, FileContent, Language } from '../api/types';
import { nameFaults as say } from '../texts/agents';

export const languageNames: Record<Language, string> = {
  typescript: 'TypeScript',
  javascript: 'JavaScript',
  python: 'Python',
  bash: 'Bash',
  wasm: 'WebAssembly',
};

/** The first content of a new agent: a small program or an uploaded module. */
export type Starter = { language: Exclude<Language, 'wasm'> } | { language: 'wasm'; module: FileContent };

const programs: Record<Exclude<Language, 'wasm'>, { entrypoint: string; code: string }> = {
  typescript: {
    entrypoint: 'main.ts',
    code: `export default async function main(input: Input, ctx: Ctx): Promise<Output> {
  console.log(\`Hello, \${input.name}\`);
  return { greeting: \`Hello, \${input.name}\` };
}
`,
  },
  javascript: {
    entrypoint: 'main.js',
    code: `/**
 * @param {Input} input
 * @param {Ctx} ctx
 * @returns {Promise<Output>}
 */
export default async function main(input, ctx) {
  console.log(\`Hello, \${input.name}\`);
  return { greeting: \`Hello, \${input.name}\` };
}
`,
  },
  python: {
    entrypoint: 'main.py',
    code: `def main(input, ctx):
    print(f"Hello, {input['name']}")
    return {"greeting": f"Hello, {input['name']}"}
`,
  },
  bash: {
    entrypoint: 'main.sh',
    code: `#!/usr/bin/env bash
set -euo pipefail

# The input is on stdin, in $INPUT_FILE and in $INPUT; the output goes to the file $OUTPUT.
name=$(sed -E 's/.*"name" *: *"([^"]*)".*/\\1/' "$INPUT_FILE")
echo "Hello, $name"
printf '{"greeting":"Hello, %s"}\\n' "$name" > "$OUTPUT"
`,
  },
};

export function blankAgent(name: string, begin: Starter): AgentBody {
  const about = { name, title: '', description: '', language: begin.language };
  if (begin.language === 'wasm') return { ...about, files: { 'main.wasm': begin.module }, entrypoint: 'main.wasm' };
  const { entrypoint, code } = programs[begin.language];
  return {
    ...about,
    files: { [entrypoint]: code },
    entrypoint,
    inputSchema: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', title: 'Name', default: 'world' } },
    },
    outputSchema: { type: 'object', required: ['greeting'], properties: { greeting: { type: 'string' } } },
  };
}

/** Returns the reason why a name cannot be used, or undefined for a valid name. The server checks the name again. */
export function nameFault(name: string): string | undefined {
  if (name === '') return say.needed;
  if (!/^[a-z]/.test(name)) return say.firstLetter;
  if (!/^[a-z0-9_-]*$/.test(name)) return say.signs;
  if (name.length > 63) return say.tooLong;
  if (name === 'registry' || name === 'new') return say.taken;
  return undefined;
}

/**
 * Returns the name if it is free. Otherwise it appends the lowest number that gives a free name. `-` and `_` count as
 * equal.
 */
export function freeName(wanted: string, taken: string[]): string {
  const plain = (name: string): string => name.replaceAll('-', '_');
  const used = new Set(taken.map(plain));
  let name = wanted;
  for (let n = 2; used.has(plain(name)); n++) name = `${wanted}-${n}`;
  return name;
}
