// Creates a Monaco editor that shows one model at a time and stores the scroll position of each model.
import type { Spot } from '../api/assist';
import { codeEditor as say } from '../texts/editor';
import { EditorKeys } from './keys';
import { monaco } from './monaco';
import { suggest } from './suggestions';
import { useEditorSettings, type EditorSettings } from './settings';
import type { Workspace } from './workspace';

export interface Problem {
  path: string;
  line: number;
  column: number;
  message: string;
  /** The rule or the error number that the checker reports. */
  code: string;
  /** The severity "info" means an opinion of a language model. */
  severity: 'error' | 'warning' | 'info';
}
export interface EditorEvents {
  cursor(line: number, column: number): void;
  /** The problems of all files of the agent, in order. */
  problems(problems: Problem[]): void;
  /** Called when the editor should show another file of the workspace. */
  open(path: string, line: number, column: number): void;
}

/** The line at which the last run failed. */
export interface Failure {
  path: string;
  line: number;
  message: string;
}

export class CodeEditor {
  private readonly editor: monaco.editor.IStandaloneCodeEditor;
  private readonly keys: EditorKeys;
  private readonly disposables: monaco.IDisposable[] = [];
  private shown: { workspace: Workspace; path: string } | undefined;
  private failure: Failure | undefined;
  private suggests = false;
  private readonly failed: monaco.editor.IEditorDecorationsCollection;

  /** Creates an editor. `modeLine` is the element in which the Vim keymap shows its mode. */
  constructor(host: HTMLElement, modeLine: HTMLElement, events: EditorEvents) {
    this.editor = monaco.editor.create(host, {
      model: null,
      automaticLayout: true,
      fontFamily: "'JetBrains Mono Variable', ui-monospace, monospace",
      fontLigatures: false,
      fixedOverflowWidgets: true,
      // Suggestions are not computed while the user continues to type, because they would block the only thread of the
      // language service.
      quickSuggestionsDelay: 80,
      scrollBeyondLastLine: false,
      padding: { top: 8, bottom: 8 },
      accessibilitySupport: 'auto',
      lineNumbersMinChars: 4,
      overviewRulerBorder: false,
      stickyScroll: { enabled: false },
      bracketPairColorization: { enabled: false },
      // Code lenses are off. No service provides them, and TypeScript would parse the whole file after each key to find
      // none.
      inlayHints: { enabled: 'off' },
      renderLineHighlight: 'line',
      scrollbar: { verticalScrollbarSize: 10, horizontalScrollbarSize: 10 },
      unicodeHighlight: { ambiguousCharacters: false },
      ...looks(useEditorSettings.getState()),
    });
    this.failed = this.editor.createDecorationsCollection();
    this.keys = new EditorKeys(this.editor, modeLine);
    this.keys.choose(useEditorSettings.getState().keys);
    this.disposables.push(
      { dispose: useEditorSettings.subscribe((settings) => this.fit(settings)) },
      this.editor.onDidChangeCursorPosition(({ position }) => events.cursor(position.lineNumber, position.column)),
      monaco.editor.onDidChangeMarkers(() => events.problems(this.problems())),
      this.editor.onDidChangeModel(() => events.problems(this.problems())),
      // Remove the mark, because an edit may have moved or fixed the line.
      this.editor.onDidChangeModelContent(() => this.fail(undefined)),
      suggest((model, position) => this.spot(model, position)),
      monaco.editor.registerEditorOpener({
        openCodeEditor: (source, uri, at) => {
          const path = this.shown?.workspace.pathAt(uri);
          if (source !== this.editor || path === undefined) return false;
          const { lineNumber, column } = startOf(at);
          events.open(path, lineNumber, column);
          return true;
        },
      }),
    );
  }

  show(workspace: Workspace, path: string, text: string, readOnly: boolean): void {
    if (this.shown?.workspace !== workspace || this.shown.path !== path) {
      this.rememberView();
      this.editor.setModel(workspace.show(this, path, text));
      this.editor.restoreViewState(workspace.view(path));
      this.shown = { workspace, path };
      this.markFailure();
    }
    this.editor.getContainerDomNode().dataset['readOnly'] = String(readOnly);
    this.editor.updateOptions({ readOnly, ariaLabel: readOnly ? say.readOnly(path) : say.waysOut(path) });
  }

  reveal(line: number, column = 1): void {
    this.editor.setPosition({ lineNumber: line, column });
    this.editor.revealLineInCenterIfOutsideViewport(line);
  }

  /** Marks the line at which a run failed, until the next edit. */
  fail(failure: Failure | undefined): void {
    this.failure = failure;
    this.markFailure();
  }

  private markFailure(): void {
    const { failure, shown } = this;
    const model = this.editor.getModel();
    if (!failure || failure.path !== shown?.path || !model || failure.line > model.getLineCount()) {
      this.failed.clear();
      return;
    }
    const { line, message } = failure;
    const end = model.getLineMaxColumn(line);
    this.failed.set([
      {
        range: new monaco.Range(line, 1, line, end),
        options: {
          isWholeLine: true,
          className: 'failed-line',
          linesDecorationsClassName: 'failed-mark',
          hoverMessage: { value: message.replace(/[\\`*_{}[\]()#+\-.!<>|]/g, '\\$&') },
          after: { content: `   ${firstLine(message)}`, inlineClassName: 'failed-text' },
        },
      },
    ]);
  }

  /** Sets whether a language model suggests code. */
  offerSuggestions(on: boolean): void {
    this.suggests = on;
  }

  hasFocus(): boolean {
    return this.editor.hasTextFocus();
  }

  focus(): void {
    this.editor.focus();
  }

  /** Formats the shown file. Returns false if no formatter supports its language. */
  async format(): Promise<boolean> {
    const action = this.editor.getAction('editor.action.formatDocument');
    if (!action?.isSupported()) return false;
    await action.run();
    return true;
  }

  /** The position of the cursor. */
  cursor(): { line: number; column: number } {
    const { lineNumber: line, column } = startOf(this.editor.getPosition() ?? undefined);
    return { line, column };
  }

  dispose(): void {
    this.rememberView();
    this.shown?.workspace.hide(this);
    for (const disposable of this.disposables) disposable.dispose();
    this.keys.dispose();
    this.editor.dispose();
  }

  private fit(settings: EditorSettings): void {
    this.keys.choose(settings.keys);
    this.editor.updateOptions(looks(settings));
  }

  /** Where a language model may suggest code. */
  private spot(model: monaco.editor.ITextModel, position: monaco.Position): Spot | undefined {
    const { editor, shown } = this;
    if (!shown || model !== editor.getModel() || editor.getOption(monaco.editor.EditorOption.readOnly))
      return undefined;
    // Two editors may show one file. The person types in the one with the focus.
    if (!this.suggests || !editor.hasTextFocus()) return undefined;
    const text = model.getValue(monaco.editor.EndOfLinePreference.LF);
    const at = model.getValueLengthInRange(
      new monaco.Range(1, 1, position.lineNumber, position.column),
      monaco.editor.EndOfLinePreference.LF,
    );
    const before = text.slice(Math.max(0, at - maxText), at);
    return { agent: shown.workspace.name, file: shown.path, before, after: text.slice(at, at + maxText) };
  }

  private rememberView(): void {
    if (this.shown) this.shown.workspace.keepView(this.shown.path, this.editor.saveViewState());
  }

  private problems(): Problem[] {
    return this.shown?.workspace.problems() ?? [];
  }
}

/** Characters before and after the cursor that are sent. The server cuts them further. */
const maxText = 16_384;

const looks = ({ fontSize, wrap, minimap }: EditorSettings): monaco.editor.IEditorOptions => ({
  fontSize,
  lineHeight: Math.round(fontSize * 1.54),
  wordWrap: wrap ? 'on' : 'off',
  minimap: { enabled: minimap },
});

const firstLine = (text: string): string => (text.split('\n')[0] ?? '').slice(0, 160);

function startOf(at: monaco.IRange | monaco.IPosition | undefined): monaco.IPosition {
  if (!at) return { lineNumber: 1, column: 1 };
  return 'lineNumber' in at ? at : { lineNumber: at.startLineNumber, column: at.startColumn };
}
