// Usage code for each manifest format. It runs unchanged next to the downloaded file; web/e2e/vendors.ts runs it with
// the vendors' SDKs.
import { recipes as say } from '../../texts/tool';

export interface Tool {
  /** The server's address, for example http://127.0.0.1:8002. */
  origin: string;
  name: string;
  version: string;
}

export interface Recipe {
  /** The heading above it. */
  label: string;
  /** The file name of the code; undefined for a terminal command. */
  file: string | undefined;
  text: string;
}

export const manifestFile = ({ name, version }: Tool, format: string): string => `${name}-${version}.${format}.json`;

/** Returns the recipe of a format. The canonical format has none besides the two commands of every version. */
export function recipeOf(format: string, tool: Tool): Recipe | undefined {
  const program = programs[format];
  if (program) return { label: program.label, file: `${format}.mjs`, text: program.text(tool) };
  if (format !== 'openapi') return undefined;
  return {
    label: say.typedClient,
    file: undefined,
    text: `npx openapi-typescript ${manifestFile(tool, format)} --output ${tool.name}.d.ts`,
  };
}

const read = (tool: Tool, format: string): string =>
  `const tool = JSON.parse(readFileSync('${manifestFile(tool, format)}', 'utf8'));`;

const call = ({ origin, name, version }: Tool): string => `const call = async (input) => {
  const answer = await fetch('${origin}/api/v1/code-agents/${name}/execute', {
    method: 'POST',
    headers: { authorization: \`Bearer \${process.env.ATELIER_TOKEN}\`, 'content-type': 'application/json' },
    body: JSON.stringify({ version: '${version}', input }),
  });
  const run = await answer.json();
  if (!run.success) throw new Error(run.error?.message ?? run.detail);
  return run.output;
};`;

const programs: Record<string, { label: string; text: (tool: Tool) => string }> = {
  openai: {
    label: say.giveToModel('openai'),
    text: (tool) => `import { readFileSync } from 'node:fs';
import OpenAI from 'openai';

${read(tool, 'openai')}
${call(tool)}

const openai = new OpenAI();
const messages = [{ role: 'user', content: process.argv[2] }];
for (;;) {
  const answer = await openai.chat.completions.create({ model: 'gpt-5', messages, tools: [tool] });
  const { message } = answer.choices[0];
  messages.push(message);
  if (!message.tool_calls) break;
  for (const { id, function: { arguments: input } } of message.tool_calls) {
    messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(await call(JSON.parse(input))) });
  }
}
console.log(messages.at(-1).content);
`,
  },
  anthropic: {
    label: say.giveToModel('@anthropic-ai/sdk'),
    text: (tool) => `import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';

${read(tool, 'anthropic')}
${call(tool)}

const anthropic = new Anthropic();
const messages = [{ role: 'user', content: process.argv[2] }];
for (;;) {
  const { content, stop_reason } = await anthropic.messages.create({
    model: 'claude-sonnet-4-5', max_tokens: 2048, messages, tools: [tool],
  });
  messages.push({ role: 'assistant', content });
  if (stop_reason !== 'tool_use') break;
  const results = [];
  for (const block of content.filter((b) => b.type === 'tool_use')) {
    results.push({ type: 'tool_result', tool_use_id: block.id, content: JSON.stringify(await call(block.input)) });
  }
  messages.push({ role: 'user', content: results });
}
console.log(messages.at(-1).content.map((b) => b.text ?? '').join(''));
`,
  },
  gemini: {
    label: say.giveToModel('@google/genai'),
    text: (tool) => `import { readFileSync } from 'node:fs';
import { GoogleGenAI } from '@google/genai';

${read(tool, 'gemini')}
${call(tool)}

const gemini = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY });
const contents = [{ role: 'user', parts: [{ text: process.argv[2] }] }];
for (;;) {
  const answer = await gemini.models.generateContent({
    model: 'gemini-2.5-flash', contents, config: { tools: [tool] },
  });
  contents.push(answer.candidates[0].content);
  if (!answer.functionCalls) break;
  const parts = [];
  for (const { id, name, args } of answer.functionCalls) {
    parts.push({ functionResponse: { id, name, response: { output: await call(args) } } });
  }
  contents.push({ role: 'user', parts });
}
console.log(contents.at(-1).parts.map((p) => p.text ?? '').join(''));
`,
  },
  langchain: {
    label: say.makeTool('@langchain/core'),
    text: (tool) => `import { readFileSync } from 'node:fs';
import { DynamicStructuredTool } from '@langchain/core/tools';

${read(tool, 'langchain')}
${call(tool)}

export default new DynamicStructuredTool({ ...tool, func: async (input) => JSON.stringify(await call(input)) });
`,
  },
  mcp: {
    label: say.serve('@modelcontextprotocol/sdk'),
    text: (tool) => `import { readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

${read(tool, 'mcp')}
${call(tool)}

const server = new Server({ name: tool.name, version: '${tool.version}' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [tool] }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  try {
    const output = await call(params.arguments ?? {});
    const content = [{ type: 'text', text: JSON.stringify(output) }];
    return tool.outputSchema ? { content, structuredContent: output } : { content };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: error.message }] };
  }
});
await server.connect(new StdioServerTransport());
`,
  },
};
