import ts from 'typescript';
import { expect, test, vi } from 'vitest';
import programTypes from '../editor/program.d.ts.txt?raw';
import { calledTypes, type CalledAgent } from './calledAgents';

// The compiler needs seconds while other tests run.
vi.setConfig({ testTimeout: 120_000 });

const shout: CalledAgent = {
  reference: 'shout-it@^1',
  version: {
    version: '1.2.0',
    title: 'Shout',
    description: 'Writes in capitals. */ declare const injected: 1; /*',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    outputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
};

/** Returns the errors that TypeScript finds in a program that may call the agents. */
function errorsIn(program: string, agents: CalledAgent[]): string[] {
  const texts: Record<string, string> = {
    '/main.ts': program,
    '/program.d.ts': `${programTypes}\ninterface Environment {}\n`,
    '/agents.d.ts': calledTypes(agents).typescript,
  };
  const options = { strict: true, noEmit: true, types: [], lib: ['lib.es2023.d.ts'] };
  const host = ts.createCompilerHost(options);
  const disk = ts.createCompilerHost(options);
  host.fileExists = (path) => path in texts || disk.fileExists(path);
  host.readFile = (path) => texts[path] ?? disk.readFile(path);
  host.getSourceFile = (path, version, ...more) => {
    const text = texts[path];
    return text === undefined
      ? disk.getSourceFile(path, version, ...more)
      : ts.createSourceFile(path, text, ts.ScriptTarget.ESNext);
  };
  const found = ts.getPreEmitDiagnostics(ts.createProgram(Object.keys(texts), options, host));
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

test('a stub has the types of the version', () => {
  expect(
    errorsIn(
      `import { shout_it } from 'agents';
export default async (input: unknown, ctx: Ctx): Promise<string> => {
  const one = await shout_it({ text: 'a' });
  const two = await ctx.callTool('shout-it@^1', { text: one.text });
  return two.text;
};`,
      [shout],
    ),
  ).toEqual([]);
});

test('wrong inputs, outputs and names are errors', () => {
  const errors = errorsIn(
    `import { shout_it, whisper } from 'agents';
export default async (input: unknown, ctx: Ctx): Promise<number> => {
  await shout_it({ text: 1 });
  await shout_it();
  return (await shout_it({ text: 'a' })).text;
};`,
    [shout],
  );
  expect(errors).toEqual([
    expect.stringContaining(`no exported member 'whisper'`),
    expect.stringContaining(`Type 'number' is not assignable to type 'string'`),
    expect.stringContaining('Expected 1 arguments, but got 0'),
    expect.stringContaining(`Type 'string' is not assignable to type 'number'`),
  ]);
});

test('an agent whose version is not known takes and returns anything', () => {
  const program = `import { delete_ } from 'agents';\nexport default async () => (await delete_({ a: 1 })).b.c;`;
  expect(errorsIn(program, [{ reference: 'delete@^9' }])).toEqual([]);
});

test('Python gets a function with keywords or a dictionary', () => {
  const { python } = calledTypes([shout, { reference: 'class@1.0.0' }]);
  expect(python).toContain('def shout_it(input: shout_it_Input, /) -> shout_it_Output:');
  expect(python).toContain('def shout_it(*, text: shout_it_Input_text) -> shout_it_Output:');
  expect(python).toContain('def class_(input: class__Input = ..., /) -> class__Output:');
  expect(calledTypes([])).toEqual({ typescript: '', python: '' });
});
