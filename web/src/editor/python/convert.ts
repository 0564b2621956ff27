// Converts between the language server protocol and Monaco. Line numbers start at 0 in the protocol and at 1 in Monaco.
// The numbers of kinds also differ.
import type * as lsp from 'vscode-languageserver-types';
import { monaco } from '../monaco';

export const toPosition = ({ lineNumber, column }: monaco.Position): lsp.Position => ({
  line: lineNumber - 1,
  character: column - 1,
});

export const fromRange = ({ start, end }: lsp.Range): monaco.IRange => ({
  startLineNumber: start.line + 1,
  startColumn: start.character + 1,
  endLineNumber: end.line + 1,
  endColumn: end.character + 1,
});

export const fromEdit = ({ range, newText }: lsp.TextEdit): monaco.languages.TextEdit => ({
  range: fromRange(range),
  text: newText,
});

export function fromText(text: string | lsp.MarkupContent | undefined): monaco.IMarkdownString | undefined {
  if (text === undefined) return undefined;
  return { value: typeof text === 'string' ? text : text.value };
}

const { Error, Warning, Info, Hint } = monaco.MarkerSeverity;
const { Unnecessary, Deprecated } = monaco.MarkerTag;
const severities = [Error, Warning, Info, Hint];

export function fromDiagnostic({ range, message, severity, code, tags }: lsp.Diagnostic): monaco.editor.IMarkerData {
  return {
    ...fromRange(range),
    message: typeof message === 'string' ? message : message.value,
    severity: severities[(severity ?? 1) - 1] ?? Error,
    source: 'Python',
    ...(code !== undefined && { code: String(code) }),
    ...(tags && { tags: tags.map((tag) => (tag === 1 ? Unnecessary : Deprecated)) }),
  };
}

// The kinds are in the order of the protocol's numbers, from 1.
const kinds = (
  [
    'Text',
    'Method',
    'Function',
    'Constructor',
    'Field',
    'Variable',
    'Class',
    'Interface',
    'Module',
    'Property',
    'Unit',
    'Value',
    'Enum',
    'Keyword',
    'Snippet',
    'Color',
    'File',
    'Reference',
    'Folder',
    'EnumMember',
    'Constant',
    'Struct',
    'Event',
    'Operator',
    'TypeParameter',
  ] as const
).map((name) => monaco.languages.CompletionItemKind[name]);

export function fromCompletion(item: lsp.CompletionItem, word: monaco.IRange): monaco.languages.CompletionItem {
  const edit = item.textEdit && 'range' in item.textEdit ? item.textEdit : undefined;
  const { label, labelDetails, sortText, filterText, detail, commitCharacters } = item;
  return {
    label: labelDetails ? { label, ...labelDetails } : label,
    kind: kinds[(item.kind ?? 1) - 1] ?? monaco.languages.CompletionItemKind.Text,
    insertText: edit?.newText ?? item.insertText ?? label,
    range: edit ? fromRange(edit.range) : word,
    ...(sortText !== undefined && { sortText }),
    ...(filterText !== undefined && { filterText }),
    ...(detail !== undefined && { detail }),
    ...(commitCharacters && { commitCharacters }),
    ...documented(item),
  };
}

/** Returns the details that the server adds when a completion is resolved. */
export function documented(item: lsp.CompletionItem): Partial<monaco.languages.CompletionItem> {
  const documentation = fromText(item.documentation);
  return {
    ...(documentation && { documentation }),
    ...(item.detail !== undefined && { detail: item.detail }),
    ...(item.additionalTextEdits && {
      additionalTextEdits: item.additionalTextEdits.map((e) => ({ ...fromEdit(e), forceMoveMarkers: false })),
    }),
  };
}
