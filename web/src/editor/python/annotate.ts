// Adds types to the entry file that the language server sees. A comment after the signature of main declares its
// parameter types. The comment changes no positions, and the draft does not change.

/** Adds types to a main function at the top level that has no types. */
export function annotate(text: string, typeOf: (parameter: string, first: boolean) => string): string {
  const start = /^(?:async[ \t]+)?def[ \t]+main[ \t]*\(/m.exec(text);
  if (!start) return text;
  const open = start.index + start[0].length;
  const signature = readParameters(text, open);
  // The signature must be at the end of its line. If the body follows on the same line, the comment would not belong to
  // the signature.
  const end = signature && /^[ \t]*:[ \t]*(?=#|\r?$)/m.exec(text.slice(signature.end));
  if (!signature || end?.index !== 0 || signature.typed || signature.names.length === 0) return text;
  const types = signature.names.map((name, n) => stars(name) + typeOf(name.replace(/^\*+/, ''), n === 0));
  const at = signature.end + end[0].length;
  return `${text.slice(0, at)}  # type: (${types.join(', ')}) -> ${anything}${text.slice(at)}`;
}

/**
 * The name of a type that accepts and provides every value. It exists in every file in which the generated types exist.
 */
export const anything = 'agent_types.Anything';

const stars = (name: string): string => /^\**/.exec(name)?.[0] ?? '';

interface Signature {
  names: string[];
  typed: boolean;
  /** The position after the closing parenthesis. */
  end: number;
}

function readParameters(text: string, open: number): Signature | undefined {
  const parts: string[] = [''];
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const skipped = /^(?:"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*)/.exec(
      text.slice(at, at + 4000),
    );
    if (skipped) {
      at += skipped[0].length - 1;
      continue;
    }
    const c = text.charAt(at);
    if (c === ')' && depth === 0) return signatureOf(parts, at + 1);
    if ('([{'.includes(c)) depth++;
    if (')]}'.includes(c)) depth--;
    if (c === ',' && depth === 0) parts.push('');
    else parts.push((parts.pop() ?? '') + c);
  }
  return undefined;
}

function signatureOf(parts: string[], end: number): Signature {
  // A single / or * only separates kinds of parameters.
  const names = parts.map((p) => p.split('=')[0]?.trim() ?? '').filter((p) => p !== '' && p !== '/' && p !== '*');
  return { names, typed: names.some((name) => name.includes(':')), end };
}
