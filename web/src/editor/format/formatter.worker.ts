// Formats programs in a worker, so that a large file does not block the page. Prettier and Ruff are loaded when a file
// of their language is formatted for the first time. The server permits WebAssembly for this script only.
import type { FormatAnswer, FormatRequest } from './messages';

addEventListener('message', ({ data }: MessageEvent<FormatRequest>) => {
  void answer(data).then((message) => postMessage(message));
});

async function answer(request: FormatRequest): Promise<FormatAnswer> {
  const { id, language } = request;
  try {
    return { id, code: await (language === 'python' ? formatPython(request) : formatScript(request)) };
  } catch (error) {
    return { id, fault: error instanceof Error ? error.message : String(error), line: lineOf(error) };
  }
}

async function formatScript({ code, language, tabSize }: FormatRequest): Promise<string> {
  const [prettier, babel, estree] = await Promise.all([
    import('prettier/standalone'),
    import('prettier/plugins/babel'),
    import('prettier/plugins/estree'),
  ]);
  return prettier.format(code, {
    parser: language === 'typescript' ? 'babel-ts' : 'babel',
    plugins: [babel, estree],
    printWidth: 100,
    tabWidth: tabSize,
    // A file keeps the quotes that it uses most.
    singleQuote: count(code, "'") > count(code, '"'),
  });
}

async function formatPython({ code, path, tabSize }: FormatRequest): Promise<string> {
  const [ruff, { default: module }] = await Promise.all([
    import('@wasm-fmt/ruff_fmt/web'),
    import('@wasm-fmt/ruff_fmt/ruff_fmt_bg.wasm?url'),
  ]);
  await ruff.default(new URL(module, import.meta.url));
  return ruff.format(code, path, { indent_style: 'space', indent_width: tabSize, line_width: 100 });
}

const count = (text: string, mark: string): number => text.split(mark).length;

/** Prettier's errors have a position; those of Ruff name it in the message. */
function lineOf(error: unknown): number | undefined {
  const loc = error instanceof Error && 'loc' in error ? (error.loc as { start?: { line?: number } }) : undefined;
  return loc?.start?.line;
}
