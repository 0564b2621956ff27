// A small editor for one text of a form.
import type { JsonSchema } from '../api/types';
import { checkInput, inputFile } from './json';
import { monaco } from './monaco';

/** An error of the text, and the place where it begins. */
export interface FieldProblem {
  line: number;
  column?: number;
  message: string;
}

export interface CodeFieldEditor {
  /** Shows a text that was changed elsewhere. The edit can be undone. */
  show(text: string): void;
  setSchema(schema: JsonSchema): void;
  setLanguage(language: string): void;
  /** Underlines the lines of these problems. */
  mark(problems: readonly FieldProblem[]): void;
  /** Moves the focus here, and the cursor to an offset. */
  focus(offset?: number): void;
  /** Moves the focus here, and the cursor to a problem. */
  goTo(problem: FieldProblem): void;
  /** Moves the focus here, and selects the text of a line. */
  select(line: number): void;
  dispose(): void;
}

export interface CodeFieldOptions {
  label: string;
  text: string;
  language: string;
  /** Completes and checks JSON by this schema. */
  schema?: JsonSchema | undefined;
  onEdit: (text: string) => void;
  /** The errors that the editor underlines. */
  onProblems?: ((problems: FieldProblem[]) => void) | undefined;
}

const inputAddress = monaco.Uri.parse(`atelier://input/${inputFile}`);

export function openField(host: HTMLElement, options: CodeFieldOptions): CodeFieldEditor {
  const { label, text, language, schema, onEdit, onProblems } = options;
  if (schema !== undefined) {
    checkInput(schema);
    monaco.editor.getModel(inputAddress)?.dispose();
  }
  const model = monaco.editor.createModel(text, language, schema === undefined ? undefined : inputAddress);
  model.updateOptions({ tabSize: language === 'python' ? 4 : 2, insertSpaces: true });
  const editor = monaco.editor.create(host, {
    model,
    ariaLabel: label,
    automaticLayout: true,
    // The field is a part of a form: Tab leaves it.
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
    quickSuggestions: schema !== undefined ? { strings: true, other: true, comments: false } : false,
    wordBasedSuggestions: 'off',
    unicodeHighlight: { ambiguousCharacters: false },
    scrollbar: { verticalScrollbarSize: 10, horizontalScrollbarSize: 10, alwaysConsumeMouseWheel: false },
  });
  let known = text;
  const followed = model.onDidChangeContent(() => {
    const now = model.getValue();
    if (now === known) return;
    known = now;
    onEdit(now);
  });
  const checked = monaco.editor.onDidChangeMarkers((changed) => {
    if (!onProblems || !changed.some((uri) => uri.toString() === model.uri.toString())) return;
    const found = monaco.editor.getModelMarkers({ resource: model.uri });
    onProblems(found.map((m) => ({ line: m.startLineNumber, column: m.startColumn, message: m.message })));
  });
  return {
    show(next) {
      if (next === known) return;
      known = next;
      model.pushEditOperations([], [{ range: model.getFullModelRange(), text: next }], () => null);
    },
    setSchema: checkInput,
    setLanguage: (to) => monaco.editor.setModelLanguage(model, to),
    mark(problems) {
      const last = model.getLineCount();
      monaco.editor.setModelMarkers(
        model,
        'field',
        problems.map(({ line, message }) => {
          const at = Math.min(Math.max(line, 1), last);
          return {
            severity: monaco.MarkerSeverity.Error,
            message,
            startLineNumber: at,
            startColumn: model.getLineFirstNonWhitespaceColumn(at) || 1,
            endLineNumber: at,
            endColumn: model.getLineMaxColumn(at),
          };
        }),
      );
    },
    focus(offset) {
      if (offset !== undefined) editor.setPosition(model.getPositionAt(offset));
      editor.focus();
    },
    goTo({ line, column = 1 }) {
      editor.setPosition({ lineNumber: line, column });
      editor.revealLineInCenterIfOutsideViewport(line);
      editor.focus();
    },
    select(line) {
      const at = Math.min(Math.max(line, 1), model.getLineCount());
      editor.setSelection(new monaco.Range(at, 1, at, model.getLineMaxColumn(at)));
      editor.revealLineInCenterIfOutsideViewport(at);
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
