import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlLine, runLine } from './callCommands';

const input = { city: "L'Aquila $HOME `id`", n: 1 };

/** Returns the arguments that a shell passes to the program, one per line. */
const argumentsOf = (line: string): string[] =>
  execFileSync('sh', ['-c', `ATELIER_TOKEN=t; ${line.replace(/^\S+/, 'printf "%s\\n"')}`], { encoding: 'utf8' })
    .trim()
    .split('\n');

describe('command lines', () => {
  it('survive a shell', () => {
    expect(argumentsOf(runLine('weather', '1.0.0', input))).toEqual([
      'run',
      'weather@1.0.0',
      '--input',
      JSON.stringify(input),
    ]);
    const curl = argumentsOf(curlLine('http://127.0.0.1:8002', 'weather', '1.0.0', input));
    expect(curl).toContain('Authorization: Bearer t');
    expect(JSON.parse(curl.at(-1) ?? '')).toEqual({ version: '1.0.0', input });
  });
});
