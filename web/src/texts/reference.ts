type Language = 'javascript' | 'typescript' | 'python' | 'bash' | 'wasm';

const script: [string, string][] = [
  ['export default (input, ctx)', 'Runs with the input. What it returns, or what its promise gives, is the output.'],
  ['ctx.log(level, message, fields)', 'Writes a structured line to the log of the run.'],
  ['ctx.progress(done, total)', 'Shows a bar while the program runs.'],
  ['ctx.env.NAME', 'A variable or secret that the agent declares.'],
  ['console.log(…)', 'Prints to the console of the run.'],
  ['fetch(url)', 'Reaches the hosts that are granted under Network; all others are denied.'],
];

/** The reference of ctx and the runtime. */
export const reference = {
  title: 'ctx and runtime',
  open: 'ctx and runtime reference',
  search: 'Search',
  nothing: (search: string) => `Nothing matches “${search}”.`,
  about: {
    typescript: 'These are the types that the editor checks with. Node programs also have the modules of Node.',
    javascript: 'These are the types that the editor checks with. Node programs also have the modules of Node.',
    python: 'These are the types that the editor checks with, besides the standard library of Python.',
    bash: 'What a Bash program is given and how it answers.',
    wasm: 'What a WebAssembly module is given and how it answers.',
  } satisfies Record<Language, string>,
  contract: {
    typescript: script,
    javascript: script,
    python: [
      ['def main(input, ctx)', 'Runs with the input. What it returns is the output. It may be async.'],
      ['ctx.log(level, message, **fields)', 'Writes a structured line to the log of the run.'],
      ['ctx.progress(done, total)', 'Shows a bar while the program runs.'],
      ['ctx.env["NAME"]', 'A variable or secret that the agent declares.'],
      ['ctx.fetch(url)', 'Reaches the hosts that are granted under Network; all others are denied.'],
      ['print(…)', 'Prints to the console of the run.'],
    ],
    bash: [
      ['$INPUT_FILE, stdin', 'The input as JSON. $INPUT has it too, up to 96 KiB.'],
      ['$OUTPUT', 'Write the output as JSON to this file. Else the last line of stdout is the output, if it is JSON.'],
      ['atelier log [LEVEL] MESSAGE [KEY=VALUE…]', 'Writes a structured line to the log of the run.'],
      ['atelier progress DONE [TOTAL [MESSAGE]]', 'Shows a bar while the program runs.'],
      ['$NAME', 'A variable or secret that the agent declares.'],
    ],
    wasm: [
      ['stdin', 'The input as JSON.'],
      ['stdout', 'The output as JSON.'],
      ['_start', 'The module is a WASI preview 1 command.'],
    ],
  } satisfies Record<Language, [string, string][]>,
};
