// Creates a small editor for the JSON input of a run. It completes and checks the text with the input schema.
import type { JsonSchema } from '../api/types';
import { checkInput, inputFile } from './json';
import { monaco } from './monaco';

/** An error in the text, and the position at which it begins. */
export interface JsonProblem {
  line: number;
  column: number;
  message: string;
}

export interface JsonInput {
  /** Shows a text that was changed outside of the editor. The user can undo the change. */
  show(text: string): void;
  setSchema(schema: JsonSchema): void;
  /** Focuses the editor and moves the cursor to an offset. */
  focus(offset?: number): void;
  goTo(problem: JsonProblem): void;
  dispose(): void;
}

export interface JsonInputOptions {
  label: string;
  text: string;
  schema: JsonSchema;
  onEdit: (text: string) => void;
  /** The errors that the editor underlines. */
  onProblems: (problems: JsonProblem[]) => void;
}

const address = monaco.Uri.parse(`atelier://input/${inputFile}`);

export function openJsonInput(
  host: HTMLElement,
  { label, text, schema, onEdit, onProblems }: JsonInputOptions,
): JsonInput {
  checkInput(schema);
  monaco.editor.getModel(address)?.dispose();
  const model = monaco.editor.createModel(text, 'json', address);
  model.updateOptions({ tabSize: 2, insertSpaces: true });
  const editor = monaco.editor.create(host, {
    model,
    ariaLabel: label,
    automaticLayout: true,
    // The editor is a field of a form, so Tab moves to the next field.
    tabFocusMode: true,
    fixedOverflowWidgets: true,
    fontFamily: "'JetBrains Mono Variable', ui-monospace, monospace",
    fontLigatures: false,
    fontSize: 12,
    lineHeight: 18,
    lineNumbersMinChars: 3,
    lineDecorationsWidth: 6,
    padding: { top: 6, bottom: 6 },
    minimap: { enabled: false },
    scrollBeyondLastLine: false,
    overviewRulerBorder: false,
    overviewRulerLanes: 0,
    stickyScroll: { enabled: false },
    bracketPairColorization: { enabled: false },
    renderLineHighlight: 'none',
    quickSuggestions: { strings: true, other: true, comments: false },
    unicodeHighlight: { ambiguousCharacters: false },
    scrollbar: { verticalScrollbarSize: 10, horizontalScrollbarSize: 10 },
  });
  let known = text;
  const followed = model.onDidChangeContent(() => {
    const now = model.getValue();
    if (now === known) return;
    known = now;
    onEdit(now);
  });
  const checked = monaco.editor.onDidChangeMarkers((changed) => {
    if (!changed.some((uri) => uri.toString() === address.toString())) return;
    const found = monaco.editor.getModelMarkers({ resource: address });
    onProblems(found.map((m) => ({ line: m.startLineNumber, column: m.startColumn, message: m.message })));
  });
  return {
    show(next) {
      if (next === known) return;
      known = next;
      model.pushEditOperations([], [{ range: model.getFullModelRange(), text: next }], () => null);
    },
    setSchema: checkInput,
    focus(offset) {
      if (offset !== undefined) editor.setPosition(model.getPositionAt(offset));
      editor.focus();
    },
    goTo({ line, column }) {
      editor.setPosition({ lineNumber: line, column });
      editor.revealLineInCenterIfOutsideViewport(line);
      editor.focus();
    },
    dispose() {
      checked.dispose();
      followed.dispose();
      editor.dispose();
      model.dispose();
    },
  };
}
