// Formats programs in a worker, so that a large file does not block the page. It loads Prettier or Ruff when it formats
// the first file of their languages. The server allows WebAssembly only for this script.
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
    // A formatted file has the kind of quotes that it used most before.
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

/** An error of Prettier has a position. The message of an error of Ruff contains the position. */
function lineOf(error: unknown): number | undefined {
  const loc = error instanceof Error && 'loc' in error ? (error.loc as { start?: { line?: number } }) : undefined;
  return loc?.start?.line;
}
