// Contains code that uses each manifest format, in JavaScript and Python. The code runs unchanged in the folder of the
// downloaded file. web/e2e/vendors.ts runs it with the vendors' packages. It contains no name of a model, because these
// names change every few months.
import { recipes as say } from '../../texts/tool';
import { javaScript } from './recipesJavaScript';
import { python } from './recipesPython';

export interface Tool {
  /** The server's URL, for example http://127.0.0.1:8002. */
  origin: string;
  name: string;
  version: string;
}

export interface Recipe {
  /** The heading above the code. */
  label: string;
  /** The file name of the code; undefined for a terminal command. */
  file: string | undefined;
  text: string;
}

export const manifestFile = ({ name, version }: Tool, format: string): string => `${name}-${version}.${format}.json`;

/** The packages that each format needs. Its programs are listed by file name without suffix. */
const programs: Record<
  string,
  { file: string; javaScript: string; python: string; say: (library: string) => string }[]
> = {
  openai: [
    { file: 'openai', javaScript: 'openai', python: 'openai', say: say.giveToModel },
    { file: 'openai-responses', javaScript: 'openai', python: 'openai', say: say.giveToResponses },
  ],
  anthropic: [{ file: 'anthropic', javaScript: '@anthropic-ai/sdk', python: 'anthropic', say: say.giveToModel }],
  gemini: [{ file: 'gemini', javaScript: '@google/genai', python: 'google-genai', say: say.giveToModel }],
  langchain: [{ file: 'langchain', javaScript: '@langchain/core', python: 'langchain-core', say: say.makeTool }],
  mcp: [{ file: 'mcp', javaScript: '@modelcontextprotocol/sdk', python: 'mcp', say: say.serve }],
};

/** Returns the recipes of a format. The canonical format has only the two commands that exist for every version. */
export function recipesOf(format: string, tool: Tool): Recipe[] {
  if (format === 'openapi') {
    const text = `npx openapi-typescript ${manifestFile(tool, format)} --output ${tool.name}.d.ts`;
    return [{ label: say.typedClient, file: undefined, text }];
  }
  return (programs[format] ?? []).flatMap((program) => {
    const manifest = manifestFile(tool, format);
    return [
      {
        label: say.inJavaScript(program.say(program.javaScript)),
        file: `${program.file}.mjs`,
        text: javaScript(program.file, tool, manifest),
      },
      {
        label: say.inPython(program.say(program.python)),
        file: `${program.file.replace('-', '_')}_tool.py`,
        text: python(program.file, tool, manifest),
      },
    ];
  });
}
