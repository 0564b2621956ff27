import type { Tool } from './recipes';

const read = (manifest: string): string => `const tool = JSON.parse(readFileSync('${manifest}', 'utf8'));`;

/**
 * Code of a function that calls the tool. It also returns errors about wrong arguments as an answer, so that the model
 * can read them and try again.
 */
const call = ({ origin, name, version }: Tool): string => `
// Returns { output }, or { errors: [{ pointer, message }] } for the model, which corrects its arguments and tries again.
const call = async (input) => {
  const answer = await fetch('${origin}/api/v1/code-agents/${name}/execute', {
    method: 'POST',
    headers: { authorization: \`Bearer \${process.env.ATELIER_TOKEN}\`, 'content-type': 'application/json' },
    body: JSON.stringify({ version: '${version}', input }),
  });
  const run = await answer.json();
  if (run.success) return { output: run.output };
  const errors = run.errors ?? [{ pointer: '', message: run.error?.message ?? run.detail }];
  return { errors: errors.map(({ pointer = '', message }) => ({ pointer: pointer.replace(/^\\/input/, ''), message })) };
};
const text = (result) => JSON.stringify(result.errors ? result : result.output);`;

const parsed = `
const callWith = async (args) => {
  let input;
  try {
    input = JSON.parse(args);
  } catch {
    return { errors: [{ pointer: '', message: 'The arguments are not valid JSON.' }] };
  }
  return call(input);
};`;

const programs: Record<string, (tool: Tool, manifest: string) => string> = {
  openai: (tool, manifest) => `import { readFileSync } from 'node:fs';
import OpenAI from 'openai';

${read(manifest)}
${call(tool)}
${parsed}

const openai = new OpenAI();
const messages = [{ role: 'user', content: process.argv[2] }];
for (let turn = 0; turn < 20; turn++) {
  const answer = await openai.chat.completions.create({ model: process.env.MODEL, messages, tools: [tool] });
  const { message } = answer.choices[0];
  messages.push(message);
  if (!message.tool_calls?.length) break;
  for (const { id, function: { arguments: args } } of message.tool_calls) {
    messages.push({ role: 'tool', tool_call_id: id, content: text(await callWith(args)) });
  }
}
console.log(messages.at(-1).content);
`,
  'openai-responses': (tool, manifest) => `import { readFileSync } from 'node:fs';
import OpenAI from 'openai';

${read(manifest)}
${call(tool)}
${parsed}

const openai = new OpenAI();
const tools = [{ type: 'function', strict: false, ...tool.function }]; // the same tool, one level flatter
const input = [{ role: 'user', content: process.argv[2] }];
let answer;
for (let turn = 0; turn < 20; turn++) {
  answer = await openai.responses.create({ model: process.env.MODEL, input, tools });
  input.push(...answer.output);
  const calls = answer.output.filter((item) => item.type === 'function_call');
  if (calls.length === 0) break;
  for (const { call_id, arguments: args } of calls) {
    input.push({ type: 'function_call_output', call_id, output: text(await callWith(args)) });
  }
}
console.log(answer.output_text);
`,
  anthropic: (tool, manifest) => `import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';

${read(manifest)}
${call(tool)}

const anthropic = new Anthropic();
const messages = [{ role: 'user', content: process.argv[2] }];
for (let turn = 0; turn < 20; turn++) {
  const { content, stop_reason } = await anthropic.messages.create({
    model: process.env.MODEL, max_tokens: 2048, messages, tools: [tool],
  });
  messages.push({ role: 'assistant', content });
  if (stop_reason !== 'tool_use') break;
  const results = [];
  for (const block of content.filter((b) => b.type === 'tool_use')) {
    const result = await call(block.input);
    results.push({ type: 'tool_result', tool_use_id: block.id, is_error: result.errors !== undefined, content: text(result) });
  }
  messages.push({ role: 'user', content: results });
}
console.log(messages.at(-1).content.map((b) => b.text ?? '').join(''));
`,
  gemini: (tool, manifest) => `import { readFileSync } from 'node:fs';
import { GoogleGenAI } from '@google/genai';

${read(manifest)}
${call(tool)}

const gemini = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY });
const contents = [{ role: 'user', parts: [{ text: process.argv[2] }] }];
for (let turn = 0; turn < 20; turn++) {
  const answer = await gemini.models.generateContent({ model: process.env.MODEL, contents, config: { tools: [tool] } });
  contents.push(answer.candidates[0].content);
  if (!answer.functionCalls) break;
  const parts = [];
  for (const { id, name, args } of answer.functionCalls) {
    parts.push({ functionResponse: { id, name, response: await call(args ?? {}) } });
  }
  contents.push({ role: 'user', parts });
}
console.log(contents.at(-1).parts.map((p) => p.text ?? '').join(''));
`,
  langchain: (tool, manifest) => `import { readFileSync } from 'node:fs';
import { DynamicStructuredTool } from '@langchain/core/tools';

${read(manifest)}
${call(tool)}

// LangChain throws an exception for arguments that do not match the schema. The model must get the errors to fix them.
class Tool extends DynamicStructuredTool {
  async call(args, ...rest) {
    try {
      return await super.call(args, ...rest);
    } catch (error) {
      const result = await call(args?.type === 'tool_call' ? args.args : args);
      if (!result.errors) throw error;
      return text(result);
    }
  }
}

export default new Tool({ ...tool, func: async (input) => text(await call(input)) });
`,
  mcp: (tool, manifest) => `import { readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

${read(manifest)}
${call(tool)}

const server = new Server({ name: tool.name, version: '${tool.version}' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [tool] }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const result = await call(params.arguments ?? {});
  const content = [{ type: 'text', text: text(result) }];
  if (result.errors) return { isError: true, content };
  return tool.outputSchema ? { content, structuredContent: result.output } : { content };
});
await server.connect(new StdioServerTransport());
`,
};

export const javaScript = (program: string, tool: Tool, manifest: string): string =>
  programs[program]?.(tool, manifest) ?? '';
