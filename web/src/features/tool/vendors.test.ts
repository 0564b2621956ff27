// Checks the golden manifests with the vendors' packages: types by the compiler, schemas by validation. Broken
// manifests must fail, to prove the checks.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { Validator } from '@seriousme/openapi-schema-validator';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { isObject, type JsonObject } from '../../api/json';

const golden = resolve(import.meta.dirname, '../../../../registry/manifest/testdata');

const read = (format: string): [string, JsonObject][] =>
  readdirSync(golden)
    .filter((file) => file.endsWith(`.${format}.json`))
    .map((file) => {
      const { manifest } = JSON.parse(readFileSync(join(golden, file), 'utf8')) as { manifest: JsonObject };
      return [file, manifest];
    });

const member = (value: unknown, ...path: string[]): JsonObject =>
  path.reduce((at: JsonObject, name) => {
    const next = at[name];
    if (!isObject(next)) throw new Error(`${path.join('.')} is no object`);
    return next;
  }, value as JsonObject);

/** Returns the compiler's errors when each value is assigned to its type. */
function typeFaults(imports: string, type: string, values: unknown[]): string[] {
  const file = join(import.meta.dirname, `vendor-${crypto.randomUUID()}.ts`);
  const lines = values.map((value, n) => `export const tool${n}: ${type} = ${JSON.stringify(value)};`);
  writeFileSync(file, [imports, ...lines].join('\n'));
  try {
    const program = ts.createProgram([file], {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: ['node'],
    });
    return ts.getPreEmitDiagnostics(program).map((d) => ts.flattenDiagnosticMessageText(d.messageText, ' '));
  } finally {
    rmSync(file);
  }
}

describe('types of the vendors', { timeout: 60_000 }, () => {
  const vendors = [
    { format: 'openai', imports: "import type OpenAI from 'openai';", type: 'OpenAI.ChatCompletionTool' },
    { format: 'anthropic', imports: "import type Anthropic from '@anthropic-ai/sdk';", type: 'Anthropic.Tool' },
    { format: 'gemini', imports: "import type { Tool } from '@google/genai';", type: 'Tool' },
    { format: 'mcp', imports: "import type { Tool } from '@modelcontextprotocol/sdk/types.js';", type: 'Tool' },
  ];
  test.each(vendors)('$format takes its manifests and no other', ({ format, imports, type }) => {
    const tools = read(format).map(([, manifest]) => manifest);
    expect(tools.length).toBe(3);
    expect(typeFaults(imports, type, tools)).toEqual([]);
    expect(typeFaults(imports, type, [{ ...tools[0], price: 1 }]).length).toBe(1);
    expect(
      typeFaults(
        imports,
        type,
        read('atelier').map(([, manifest]) => manifest),
      ).length,
    ).toBeGreaterThan(0);
  });
});

describe('MCP', () => {
  test.each(read('mcp'))('%s is a tool of the protocol', (_, tool) => {
    expect(ToolSchema.parse(tool)).toEqual(tool);
    expect(ToolSchema.safeParse({ ...tool, inputSchema: { type: 'array' } }).success).toBe(false);
  });
});

describe('OpenAPI', () => {
  test.each(read('openapi'))('%s is a document of 3.1 whose references lead somewhere', async (_, document) => {
    const validator = new Validator();
    const answer = await validator.validate(structuredClone(document));
    expect(answer.errors ?? []).toEqual([]);
    expect(validator.version).toBe('3.1');
    for (const reference of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]*)"/g)) {
      const path = (reference[1] ?? '').split('/');
      if (path[0] !== 'components') continue; // inside a schema with its own $id
      expect(() =>
        path.reduce((at: unknown, name) => (at as JsonObject)[name] ?? never(reference[0]), document),
      ).not.toThrow();
    }
    const { info: _info, ...broken } = document;
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });
});

describe('LangChain', () => {
  test.each(read('langchain'))('%s keeps its schema on the way to OpenAI', (_, manifest) => {
    const { name, description, schema } = manifest as { name: string; description: string; schema: JsonObject };
    const tool = new DynamicStructuredTool({
      name,
      description,
      schema,
      func: () => Promise.resolve(''),
    });
    const converted = convertToOpenAITool(tool);
    expect(converted.function).toMatchObject({ name, description });
    expect(converted.function.parameters).toEqual(schema);
    expect(manifest['parameters']).toEqual(schema);
  });

  test.each(read('openai'))('%s is left as it is', (_, manifest) => {
    expect(convertToOpenAITool(manifest)).toEqual(manifest);
    expect(member(manifest, 'function', 'parameters')['type']).toBe('object');
  });
});

function never(what: string): never {
  throw new Error(`${what} leads nowhere`);
}
