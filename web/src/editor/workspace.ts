// The models of one agent. A model is made when its tab opens, or when the language service needs it to resolve an
// import; making all of them at once would boot a worker for each language.
import type { Files } from '../api/types';
import type { Problem } from './codeEditor';
import { monaco } from './monaco';
import { Python, type PythonState } from './python';
import { useEditorSettings } from './settings';
import { setNeighbours } from './typescript';

export interface Marker {
  path: string;
  line: number;
  column: number;
  message: string;
  severity: 'error' | 'warning';
  /** That the file could not be parsed, which a language service in the page may say as well, sooner and in more places. */
  syntax: boolean;
}

export interface WorkspaceEvents {
  edit(path: string, text: string): void;
  python(state: PythonState): void;
  /** What the server found is another; files that have no model have no event of their own. */
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

// Of these a service reads all files of the agent; files of one family may import each other.
const families: Record<string, string> = { typescript: 'script', javascript: 'script', python: 'python' };
const familyOf = (path: string): string | undefined => families[languageOf(path)];

export class Workspace {
  readonly python: Python;
  private readonly models = new Map<string, monaco.editor.ITextModel>();
  private readonly views = new Map<string, monaco.editor.ICodeEditorViewState>();
  private readonly texts = new Map<string, string>();
  private found: Marker[] = [];
  private applying = false;
  /** Files of which a language service says that they cannot be parsed; the server's word on that would be one too many. */
  private readonly unparsed = new Set<string>();
  private readonly disposables: monaco.IDisposable[] = [];

  constructor(
    private readonly name: string,
    private readonly events: WorkspaceEvents,
  ) {
    this.python = new Python(this.pathOf(''), (state) => events.python(state));
    this.python.allow(useEditorSettings.getState().python);
    const forget = useEditorSettings.subscribe(({ python, tabSize }) => {
      this.python.allow(python);
      for (const model of this.models.values()) indent(model, tabSize);
    });
    this.disposables.push(
      { dispose: forget },
      monaco.editor.onDidChangeMarkers((uris) => uris.forEach((uri) => this.compare(uri))),
    );
  }

  /** The model of a path, made from the text when there is none yet. */
  open(path: string, text: string): monaco.editor.ITextModel {
    const known = this.models.get(path);
    if (known) return known;
    const uri = this.uriOf(path);
    monaco.editor.getModel(uri)?.dispose();
    const model = monaco.editor.createModel(text, languageOf(path), uri);
    indent(model, useEditorSettings.getState().tabSize);
    model.onDidChangeContent(() => {
      const now = model.getValue();
      this.texts.set(path, now);
      if (!this.applying) this.events.edit(path, now);
    });
    this.models.set(path, model);
    this.texts.set(path, text);
    this.mark(path, model);
    return model;
  }

  /** Brings the models up to what the draft holds: changed from outside, renamed, deleted. */
  sync(files: Files): void {
    for (const [path, model] of this.models) {
      const text = files[path];
      if (typeof text !== 'string') this.close(path);
      else if (this.texts.get(path) !== text) this.replace(model, text);
    }
    // The files beside an open one, so that its imports resolve.
    const open = new Set([...this.models.keys()].map(familyOf));
    const texts = Object.entries(files).filter((file): file is [string, string] => typeof file[1] === 'string');
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

  /** Shows what the server found; the page's own language services keep their own marks. */
  setMarkers(markers: Marker[]): void {
    this.found = markers;
    for (const [path, model] of this.models) this.mark(path, model);
    this.events.marked();
  }

  /** What is wrong in any file: as it is marked, or for a file without a model as the server said. */
  problems(): Problem[] {
    const { Error, Warning } = monaco.MarkerSeverity;
    const marked = [...this.models].flatMap(([path, model]) =>
      monaco.editor
        .getModelMarkers({ resource: model.uri })
        .filter(({ severity }) => severity === Error || severity === Warning)
        .map(({ severity, message, startLineNumber: line, startColumn: column, code }): Problem => {
          const rule = typeof code === 'object' ? code.value : (code ?? '');
          return { path, line, column, message, code: rule, severity: severity === Error ? 'error' : 'warning' };
        }),
    );
    const other = this.found.filter(({ path }) => !this.models.has(path)).map((found) => ({ ...found, code: '' }));
    return [...marked, ...other].sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line || a.column - b.column);
  }

  /** The path of one of the agent's files that is open here. */
  pathAt(uri: monaco.Uri): string | undefined {
    return [...this.models].find(([, model]) => model.uri.toString() === uri.toString())?.[0];
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
    this.python.dispose();
    for (const path of [...this.models.keys()]) this.close(path);
  }

  private uriOf(path: string): monaco.Uri {
    return monaco.Uri.from({ scheme: 'file', path: this.pathOf(path) });
  }

  private pathOf(path: string): string {
    return `/workspace/${this.name}/${path}`;
  }

  /** A service that knows newer syntax than the server's interpreter says nothing of it; then the server's word stands. */
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
    const own = this.found.filter((m) => m.path === path && !(m.syntax && this.unparsed.has(path)));
    monaco.editor.setModelMarkers(
      model,
      'atelier',
      own.map(({ line, column, message, severity }) => {
        const at = model.validatePosition({ lineNumber: line, column });
        const word = model.getWordAtPosition(at);
        return {
          startLineNumber: at.lineNumber,
          startColumn: word?.startColumn ?? at.column,
          endLineNumber: at.lineNumber,
          endColumn: word?.endColumn ?? Math.max(at.column + 1, model.getLineMaxColumn(at.lineNumber)),
          message,
          severity: severity === 'error' ? monaco.MarkerSeverity.Error : monaco.MarkerSeverity.Warning,
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
    // As an edit, so that Undo leads back to what was there.
    model.pushEditOperations([], [{ range: model.getFullModelRange(), text }], () => null);
    this.applying = false;
  }
}

/** Python's service gives each finding the name of its rule, but for what it cannot parse. */
const isSyntaxError = ({ owner, severity, code }: monaco.editor.IMarker): boolean =>
  owner === 'python' && severity === monaco.MarkerSeverity.Error && code === undefined;

function indent(model: monaco.editor.ITextModel, wanted: number): void {
  const usual = model.getLanguageId() === 'python' ? 4 : 2;
  model.updateOptions({ tabSize: wanted === 0 ? usual : wanted, insertSpaces: true });
}
