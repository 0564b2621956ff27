// Manages the editor models of one agent. A model is created when its tab opens or an import needs it. Creating all
// models at once would start a worker per language.
import type { Files } from '../api/types';
import type { Problem } from './codeEditor';
import { monaco } from './monaco';
import { Past, replacement } from './past';
import { Python, type PythonState } from './python';
import { useEditorSettings } from './settings';
import { setNeighbours } from './typescript';

export interface Marker {
  path: string;
  line: number;
  column: number;
  message: string;
  /** The severity "info" means an opinion of a language model. */
  severity: 'error' | 'warning' | 'info';
  /** The rule of the policy gate that produced the finding. */
  rule?: string;
  /**
   * Whether this is a syntax error. A language service in the page may report syntax errors sooner and in more places.
   */
  syntax: boolean;
}

export interface WorkspaceEvents {
  edit(path: string, text: string): void;
  python(state: PythonState): void;
  /** Called when the problems of the files change. Monaco sends no such event for files without a model. */
  marked(): void;
}

const languages: Record<string, string> = {
  ts: 'typescript',
  js: 'javascript',
  mts: 'typescript',
  cts: 'typescript',
  mjs: 'javascript',
  cjs: 'javascript',
  py: 'python',
  sh: 'shell',
  bash: 'shell',
  json: 'json',
};

export const languageOf = (path: string): string =>
  languages[path.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'plaintext';

// Groups of languages whose service reads all files of the agent. Files of one group can import each other.
const families: Record<string, string> = { typescript: 'script', javascript: 'script', python: 'python' };
const familyOf = (path: string): string | undefined => families[languageOf(path)];

export class Workspace {
  readonly python: Python;
  private readonly models = new Map<string, monaco.editor.ITextModel>();
  private readonly views = new Map<string, monaco.editor.ICodeEditorViewState>();
  private readonly texts = new Map<string, string>();
  /** The path that each editor shows. */
  private readonly shown = new Map<object, string>();
  private files: Files = {};
  private found: Marker[] = [];
  private opinions: Marker[] = [];
  private applying = false;
  /** Files in which a language service reports a syntax error. The server's syntax error would be a duplicate. */
  private readonly unparsed = new Set<string>();
  private readonly disposables: monaco.IDisposable[] = [];
  private readonly past: Past;

  constructor(
    /** The ID of the agent, followed by the version if a version is open. */
    readonly name: string,
    private readonly events: WorkspaceEvents,
  ) {
    this.python = new Python(this.pathOf(''), (state) => events.python(state));
    this.python.allow(useEditorSettings.getState().python);
    const forget = useEditorSettings.subscribe(({ python, tabSize }) => {
      this.python.allow(python);
      for (const model of this.models.values()) indent(model, tabSize);
    });
    this.past = new Past(name);
    const store = (): void => this.past.store(this.texts);
    window.addEventListener('pagehide', store);
    this.disposables.push(
      { dispose: forget },
      { dispose: () => window.removeEventListener('pagehide', store) },
      monaco.editor.onDidChangeMarkers((uris) => uris.forEach((uri) => this.compare(uri))),
    );
  }

  /** Returns the model of a path for an editor. It also creates the models that the language service needs. */
  show(editor: object, path: string, text: string): monaco.editor.ITextModel {
    const model = this.open(path, text);
    this.provide();
    this.shown.set(editor, path);
    this.lookForPython();
    return model;
  }

  /** Must be called when an editor is closed. */
  hide(editor: object): void {
    if (this.shown.delete(editor)) this.lookForPython();
  }

  private lookForPython(): void {
    this.python.look([...this.shown.values()].some((path) => languageOf(path) === 'python'));
  }

  /** Returns the model of a path and creates it from the text if needed. */
  private open(path: string, text: string): monaco.editor.ITextModel {
    const known = this.models.get(path);
    if (known) return known;
    const uri = this.uriOf(path);
    monaco.editor.getModel(uri)?.dispose();
    const steps = [...this.past.of(path, text), text];
    const model = monaco.editor.createModel(steps[0] ?? text, languageOf(path), uri);
    indent(model, useEditorSettings.getState().tabSize);
    for (const next of steps.slice(1)) repeat(model, next);
    if (model.getValue() !== text) model.setValue(text); // the text has mixed line endings
    model.onDidChangeContent(() => {
      const now = model.getValue();
      this.past.changes(path, this.texts.get(path) ?? '', Date.now());
      this.texts.set(path, now);
      if (!this.applying) this.events.edit(path, now);
    });
    this.models.set(path, model);
    this.texts.set(path, text);
    this.mark(path, model);
    return model;
  }

  /** Updates the models after changes outside of the editor, renames and deletions. */
  sync(files: Files): void {
    this.files = files;
    for (const [path, model] of this.models) {
      const text = files[path];
      if (typeof text !== 'string') this.close(path);
      else if (this.texts.get(path) !== text) this.replace(model, text);
    }
    this.provide();
  }

  /** Creates models for the other files of the shown languages, so that imports resolve. */
  private provide(): void {
    const open = new Set([...this.models.keys()].map(familyOf));
    const texts = Object.entries(this.files).filter((file): file is [string, string] => typeof file[1] === 'string');
    for (const [path, text] of texts) {
      const family = familyOf(path);
      if (family !== undefined && open.has(family)) this.open(path, text);
    }
    if (open.has('script')) setNeighbours(texts.map(([path, text]) => [this.uriOf(path).toString(), text]));
  }

  keepView(path: string, view: monaco.editor.ICodeEditorViewState | null): void {
    if (view) this.views.set(path, view);
  }

  view(path: string): monaco.editor.ICodeEditorViewState | null {
    return this.views.get(path) ?? null;
  }

  /** Shows the server's problems. The markers of the language services stay. */
  setMarkers(markers: Marker[]): void {
    this.found = markers;
    for (const [path, model] of this.models) this.mark(path, model);
    this.events.marked();
  }

  /** Shows findings of a language model in addition to those of the server. */
  setOpinions(opinions: Marker[]): void {
    if (opinions.length === 0 && this.opinions.length === 0) return;
    this.opinions = opinions;
    for (const [path, model] of this.models) this.mark(path, model);
    this.events.marked();
  }

  /** Returns the problems of all files. They come from markers, or from the server for files without a model. */
  problems(): Problem[] {
    const { Error, Warning, Info } = monaco.MarkerSeverity;
    const nameOf = (severity: monaco.MarkerSeverity): Problem['severity'] =>
      severity === Error ? 'error' : severity === Warning ? 'warning' : 'info';
    const marked = [...this.models].flatMap(([path, model]) =>
      monaco.editor
        .getModelMarkers({ resource: model.uri })
        .filter(({ severity, owner }) => severity >= Warning || (severity === Info && owner === 'atelier'))
        .map(({ severity, message, startLineNumber: line, startColumn: column, code }): Problem => {
          const rule = typeof code === 'object' ? code.value : (code ?? '');
          return { path, line, column, message, code: rule, severity: nameOf(severity) };
        }),
    );
    const other = [...this.found, ...this.opinions]
      .filter(({ path }) => !this.models.has(path))
      .map((found) => ({ ...found, code: found.rule ?? '' }));
    return [...marked, ...other].sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line || a.column - b.column);
  }

  /** Returns the path of the agent's file that a model shows. */
  pathAt(uri: monaco.Uri): string | undefined {
    return [...this.models].find(([, model]) => model.uri.toString() === uri.toString())?.[0];
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
    this.shown.clear();
    this.python.dispose();
    for (const path of [...this.models.keys()]) this.close(path);
  }

  private uriOf(path: string): monaco.Uri {
    return monaco.Uri.from({ scheme: 'file', path: this.pathOf(path) });
  }

  private pathOf(path: string): string {
    return `/workspace/${this.name}/${path}`;
  }

  /**
   * A language service may accept newer syntax than the server's interpreter. Then it reports nothing, and the server's
   * error is shown.
   */
  private compare(uri: monaco.Uri): void {
    const path = this.pathAt(uri);
    const model = path === undefined ? undefined : this.models.get(path);
    if (path === undefined || !model) return;
    const marks = monaco.editor.getModelMarkers({ resource: uri });
    const unparsed = marks.some(isSyntaxError);
    if (unparsed === this.unparsed.has(path)) return;
    if (unparsed) this.unparsed.add(path);
    else this.unparsed.delete(path);
    this.mark(path, model);
  }

  private mark(path: string, model: monaco.editor.ITextModel): void {
    const own = [...this.found, ...this.opinions].filter(
      (m) => m.path === path && !(m.syntax && this.unparsed.has(path)),
    );
    monaco.editor.setModelMarkers(
      model,
      'atelier',
      own.map(({ line, column, message, severity, rule }) => {
        const at = model.validatePosition({ lineNumber: line, column });
        const word = model.getWordAtPosition(at);
        return {
          startLineNumber: at.lineNumber,
          startColumn: word?.startColumn ?? at.column,
          endLineNumber: at.lineNumber,
          endColumn: word?.endColumn ?? Math.max(at.column + 1, model.getLineMaxColumn(at.lineNumber)),
          message,
          ...(rule !== undefined && { code: rule, source: 'atelier' }),
          severity: severities[severity],
        };
      }),
    );
  }

  private close(path: string): void {
    this.models.get(path)?.dispose();
    this.models.delete(path);
    this.views.delete(path);
    this.texts.delete(path);
    this.unparsed.delete(path);
  }

  private replace(model: monaco.editor.ITextModel, text: string): void {
    this.applying = true;
    // The text is changed by an edit, so that the user can undo the change.
    model.pushEditOperations([], [{ range: model.getFullModelRange(), text }], () => null);
    this.applying = false;
  }
}

const severities: Record<Marker['severity'], monaco.MarkerSeverity> = {
  error: monaco.MarkerSeverity.Error,
  warning: monaco.MarkerSeverity.Warning,
  info: monaco.MarkerSeverity.Info,
};

/** Repeats an edit from before the reload, so that the user can undo it as one step. */
function repeat(model: monaco.editor.ITextModel, next: string): void {
  const { start, end, text } = replacement(model.getValue(), next);
  const [from, to] = [model.getPositionAt(start), model.getPositionAt(end)];
  model.pushStackElement();
  model.pushEditOperations([], [{ range: monaco.Range.fromPositions(from, to), text }], () => null);
  model.pushStackElement();
}

/** Python's service names a rule for each problem, except syntax errors. */
const isSyntaxError = ({ owner, severity, code }: monaco.editor.IMarker): boolean =>
  owner === 'python' && severity === monaco.MarkerSeverity.Error && code === undefined;

function indent(model: monaco.editor.ITextModel, wanted: number): void {
  const usual = model.getLanguageId() === 'python' ? 4 : 2;
  model.updateOptions({ tabSize: wanted === 0 ? usual : wanted, insertSpaces: true });
}
