// Size budgets of the Studio, in brotli at quality 11. Only files the editor waits for are packed at 11. Other files
// use quality 9, which is up to an eighth larger, so their size is scaled.
const allowance = 1.12;
const kB = 1000;

/** Scripts that cannot be split, each with its own limit. */
const wholes = {
  'json.worker': { limit: 105 * kB, reason: "Monaco's service for JSON is one script; a JSON file fetches it" },
  nodeTypes: { limit: 330 * kB, reason: 'the declarations of Node are useful whole; a program for Node fetches them' },
};

const editorParts = ['index.html', 'src/workbench/AgentPage.tsx', 'src/editor/kit.ts'];

/** The scripts and styles that the editor waits for. */
export const untilEditor = (manifest) =>
  new Set(reach(manifest, editorParts).flatMap((chunk) => [chunk.file, ...(chunk.css ?? [])]));

/**
 * Compares the build with its budgets. `manifest` is Vite's; `files` gives each file's brotli size, whether it used
 * quality 11, and its raw size.
 */
export function weigh(manifest, files) {
  const names = Object.keys(files);
  const sum = (what, limit, counted, also = 0) => {
    const brotli = counted.reduce((total, name) => total + sizeOf(name), 0);
    return { what, limit, bytes: Math.round(brotli + also) };
  };
  const sizeOf = (name) => {
    if (!files[name]) throw new Error(`${name} was not built, so that its budget would say nothing.`);
    const { brotli, dense } = files[name];
    return dense ? brotli : brotli / allowance;
  };
  const called = (stem) => {
    const found = names.filter((name) => stemOf(name) === stem);
    if (found.length === 0) throw new Error(`No file is called ${stem}, so that its budget would say nothing.`);
    return found;
  };
  const shell = reach(manifest, ['index.html']);
  const editor = reach(manifest, editorParts);
  const code = (chunks) => [...new Set(chunks.map((chunk) => chunk.file))];
  const style = (chunks) => [...new Set(chunks.flatMap((chunk) => chunk.css ?? []))];
  const python = [...called('pyright.worker'), ...code([chunkOf(manifest, 'src/editor/python/open.ts')])];
  const typescript = called('ts.worker');
  const counted = new Set([...code(editor), ...python, ...typescript]);
  const alone = names.filter((name) => /\.(js|css|ttf)$/.test(name) && !counted.has(name));
  for (const stem of Object.keys(wholes)) called(stem);
  return [
    sum('code before the first screen', 175 * kB, code(shell)),
    sum('style before the first screen', 20 * kB, style(shell)),
    sum('code until the editor is ready', 1050 * kB, code(editor)),
    sum("TypeScript's worker", 1100 * kB, typescript),
    sum("Python's worker and its bridge", 2500 * kB, python),
    ...alone.map((name) => sum(name, wholes[stemOf(name)]?.limit ?? 80 * kB, [name])),
    sum(
      'everything in the binary',
      12_500 * kB,
      names,
      names.reduce((total, name) => total + files[name].other, 0),
    ),
  ];
}

/** The message for an exceeded budget. */
export const complaint = ({ what, bytes, limit }) =>
  `${what} has ${inKB(bytes)} kB; the budget is ${inKB(limit)} kB. Load what can wait with lazy(), or split it.`;

export const inKB = (bytes) => (bytes / kB).toFixed(1);

/**
 * Reports whether a script evaluates text as code, which the content security policy forbids. `parse` returns its
 * syntax tree.
 */
export function evaluates(script, parse) {
  // Parsing is slow and few scripts contain these words. Comments and strings do not count.
  return /\beval\s*[()]|(?<![.\w$])Function\s*\(/.test(script) && has(parse(script), makesCode);
}

function makesCode(node) {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return false;
  const { callee } = node;
  const called = callee.type === 'SequenceExpression' ? callee.expressions.at(-1) : callee;
  return called?.type === 'Identifier' && (called.name === 'Function' || called.name === 'eval');
}

function has(node, wanted) {
  if (Array.isArray(node)) return node.some((one) => has(one, wanted));
  if (node === null || typeof node !== 'object') return false;
  return wanted(node) || Object.values(node).some((value) => has(value, wanted));
}

/** The chunks that these modules need to start. */
function reach(manifest, modules) {
  const reached = new Set();
  const take = (chunk) => {
    if (reached.has(chunk)) return;
    reached.add(chunk);
    for (const next of chunk.imports ?? []) take(manifest[next]);
  };
  for (const module of modules) take(chunkOf(manifest, module));
  return [...reached];
}

function chunkOf(manifest, module) {
  const key = Object.keys(manifest).find((name) => name === module || name.endsWith(`/${module}`));
  if (key === undefined) throw new Error(`${module} has no chunk, so that its budget would say nothing.`);
  return manifest[key];
}

/** A file name without its folder and Vite's hash. */
export const stemOf = (name) => /^assets\/(.+)-.{8}\.\w+$/.exec(name)?.[1];
