// The editor shows no error in the samples that we ship.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import type { Sample } from '../src/api/types';
import { agentTypes } from '../src/schema/declarations';
import { repository, withAtelier, type Atelier } from './kit/atelier';

const sandbox = ['goja', 'program']
  .map((name) => readFileSync(join(repository, `web/src/editor/${name}.d.ts.txt`), 'utf8'))
  .join('\n');

describe('samples', () => {
  test('are served in their order, each with its input', async () => {
    await withAtelier(async (atelier) => {
      expect((await samplesOf(atelier)).map((sample) => sample.name)).toEqual([
        'weather-ts',
        'invoice-ts',
        'webhook-js',
        'csv-python',
        'progress-python',
        'logs-bash',
      ]);
    });
  });

  test('have types without a fault', async () => {
    await withAtelier(async (atelier) => {
      for (const sample of await samplesOf(atelier)) {
        if (sample.language !== 'typescript' && sample.language !== 'javascript') continue;
        const { inputSchema, outputSchema, environment } = sample.agent;
        expect(
          faultsIn(
            sample.name,
            agentTypes(inputSchema ?? {}, outputSchema ?? {}, Object.keys(environment ?? {})).typescript,
          ),
          sample.name,
        ).toEqual([]);
      }
    });
  });
});

async function samplesOf(atelier: Atelier): Promise<Sample[]> {
  return ((await atelier.api('GET', '/api/v1/samples')).body as { items: Sample[] }).items;
}

/** Returns the TypeScript errors for a folder of samples/, with the editor's declarations. */
function faultsIn(sample: string, types: string): string[] {
  const folder = join(repository, 'samples', sample);
  const ambient = new Map([
    [join(folder, 'sandbox.d.ts'), sandbox],
    [join(folder, 'agent-types.d.ts'), types],
  ]);
  const code = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|js)$/.test(name));
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts'],
    types: [],
    strict: true,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    esModuleInterop: true,
    resolveJsonModule: true,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => ambient.has(name) || fileExists(name);
  host.readFile = (name) => ambient.get(name) ?? readFile(name);
  host.getSourceFile = (name, version, ...rest) => {
    const text = ambient.get(name);
    return text === undefined ? getSourceFile(name, version, ...rest) : ts.createSourceFile(name, text, version);
  };
  const program = ts.createProgram([...code.map((name) => join(folder, name)), ...ambient.keys()], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map((d) => `${d.file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(d.messageText, ' ')}`);
}
