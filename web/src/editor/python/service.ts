// Manages the Python language service of one agent. The agent's editor models are the open documents of the language
// server, and the server's diagnostics become markers. A stub that every file can see contains the program's types.
import type { Diagnostic } from 'vscode-languageserver-types';
import { monaco } from '../monaco';
import { annotate, anything } from './annotate';
import type { Cancel } from './connection';
import { fromDiagnostic } from './convert';
import programTypes from './program.pyi.txt?raw';
import { startServer, type Server } from './server';

export interface PythonProject {
  /** The path prefix of the agent's models, with a trailing slash. */
  root: string;
  /** The declarations of Input, Output and Environment. */
  types: string;
  /** The stub of the module agents. */
  agents: string;
  /** The properties of the input that can be parameters of main. */
  parameters: readonly string[];
  entrypoint: string;
  /** Stubs and sources of the installed packages, by path. */
  packages: Record<string, string>;
  /** The version of the server's Python, such as 3.11. Without a version, the service uses the newest. */
  version: string | undefined;
}

const stub = 'agent_types.pyi';
// If the program has a module of this name, that module replaces the stub of agents.
const agentsModule = 'agents.py';
const agentsStub = 'agents.pyi';

/** The folder of the installed packages. */
const packagesRoot = '/packages';

const config = {
  // The service reports certain and likely errors, but no missing types.
  typeCheckingMode: 'standard',
  pythonPlatform: 'Linux',
  typeshedPath: '/typeshed',
  extraPaths: [packagesRoot],
};

export class PythonService {
  private readonly disposables: monaco.IDisposable[] = [];
  private readonly watched = new Map<monaco.editor.ITextModel, monaco.IDisposable>();
  private readonly revisions = new Map<string, number>();
  /** Files whose names the server does not yet suggest for imports. */
  private readonly unread = new Set<monaco.editor.ITextModel>();
  private project: PythonProject;

  private constructor(
    project: PythonProject,
    private readonly server: Server,
  ) {
    this.project = project;
  }

  static async start(project: PythonProject, broken: () => void): Promise<PythonService> {
    const { root } = project;
    const models = monaco.editor.getModels().filter((model) => isPython(model) && model.uri.path.startsWith(root));
    const files: Record<string, string> = {
      [`${root}pyrightconfig.json`]: JSON.stringify({ ...config, pythonVersion: project.version }),
      [`${root}${stub}`]: stubOf(project),
      // The empty module prevents a warning about a stub without its module.
      [`${root}agent_types.py`]: '',
      [`${root}__builtins__.pyi`]: 'import agent_types as agent_types\n',
    };
    const own = models.some((model) => model.uri.path === `${root}${agentsModule}`);
    if (!own) {
      files[`${root}${agentsModule}`] = '';
      files[`${root}${agentsStub}`] = agentsOf(project);
    }
    for (const [path, text] of Object.entries(project.packages)) files[`${packagesRoot}/${path}`] = text;
    for (const model of models) files[model.uri.path] = model.getValue();
    const server = await startServer(uriOf(root), files, { diagnostics: mark, broken });
    const service = new PythonService(project, server);
    service.tell(`${root}${stub}`, stubOf(project));
    if (!own) service.tell(`${root}${agentsStub}`, agentsOf(project));
    for (const model of models) service.watch(model);
    service.disposables.push(
      monaco.editor.onDidCreateModel((model) => {
        if (!isPython(model) || !service.has(model)) return;
        server.connection.notify('pyright/createFile', {
          files: [{ uri: model.uri.toString() }],
          uri: model.uri.toString(),
        });
        service.watch(model);
      }),
      monaco.editor.onWillDisposeModel((model) => service.unwatch(model)),
    );
    return service;
  }

  has(model: monaco.editor.ITextModel): boolean {
    return model.uri.path.startsWith(this.project.root);
  }

  /** Sets other types or another entry file. */
  update(project: PythonProject): void {
    const before = this.project;
    this.project = project;
    if (before.agents !== project.agents && this.revisions.has(`${project.root}${agentsStub}`))
      this.tell(`${project.root}${agentsStub}`, agentsOf(project));
    if (before.types !== project.types) this.tell(`${project.root}${stub}`, stubOf(project));
    for (const model of this.watched.keys()) {
      if ([before.entrypoint, project.entrypoint].some((path) => model.uri.path === project.root + path)) {
        this.tell(model.uri.path, this.textOf(model));
      }
    }
  }

  /** Sends the server a request about a position in a model. Resolves to undefined if there is no answer. */
  ask(method: string, model: monaco.editor.ITextModel, params: object, cancel: Cancel): Promise<unknown> {
    return this.server.connection
      .request(method, { textDocument: { uri: model.uri.toString() }, ...params }, cancel)
      .catch(() => undefined);
  }

  resolve(item: object, cancel: Cancel): Promise<unknown> {
    return this.server.connection.request('completionItem/resolve', item, cancel).catch(() => undefined);
  }

  onDispose(run: () => void): void {
    this.disposables.push({ dispose: run });
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
    for (const [model, watching] of this.watched) {
      watching.dispose();
      monaco.editor.setModelMarkers(model, owner, []);
    }
    this.server.stop();
  }

  /** Makes the server read the changed files, so that it suggests their names in other files. */
  readAll(): void {
    const { connection } = this.server;
    for (const { uri } of this.unread) {
      const textDocument = { uri: uri.toString() };
      connection.request('textDocument/documentSymbol', { textDocument }).catch(() => undefined);
    }
    this.unread.clear();
  }

  private watch(model: monaco.editor.ITextModel): void {
    const tell = (): void => {
      this.unread.add(model);
      this.tell(model.uri.path, this.textOf(model));
    };
    tell();
    this.watched.set(model, model.onDidChangeContent(tell));
  }

  private unwatch(model: monaco.editor.ITextModel): void {
    const watching = this.watched.get(model);
    if (!watching) return;
    watching.dispose();
    this.watched.delete(model);
    this.unread.delete(model);
    const uri = model.uri.toString();
    this.revisions.delete(model.uri.path);
    this.server.connection.notify('textDocument/didClose', { textDocument: { uri } });
    this.server.connection.notify('pyright/deleteFile', { files: [{ uri }], uri });
  }

  /** Opens a document on the server or replaces its text. */
  private tell(path: string, text: string): void {
    const uri = uriOf(path);
    const version = (this.revisions.get(path) ?? 0) + 1;
    this.revisions.set(path, version);
    if (version === 1) {
      this.server.connection.notify('textDocument/didOpen', {
        textDocument: { uri, languageId: 'python', version, text },
      });
      return;
    }
    this.server.connection.notify('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ text }],
    });
  }

  private textOf(model: monaco.editor.ITextModel): string {
    const { root, entrypoint, parameters } = this.project;
    const text = model.getValue(monaco.editor.EndOfLinePreference.LF);
    if (model.uri.path !== root + entrypoint) return text;
    return annotate(text, (name, first) => {
      const plain = name.replace(/^_+/, '');
      if (first && (plain === 'input' || plain === '')) return 'agent_types.Input';
      if (plain === 'ctx' || plain === 'context') return 'agent_types.Ctx';
      return parameters.includes(name) ? `agent_types.Input_${name}` : anything;
    });
  }
}

const owner = 'python';

function mark({ uri, diagnostics }: { uri: string; diagnostics: Diagnostic[] }): void {
  const model = monaco.editor.getModel(monaco.Uri.parse(uri));
  if (model) monaco.editor.setModelMarkers(model, owner, diagnostics.map(fromDiagnostic));
}

const isPython = (model: monaco.editor.ITextModel): boolean => model.getLanguageId() === 'python';
const uriOf = (path: string): string => monaco.Uri.from({ scheme: 'file', path }).toString();
// Without agents to call, the module agents may be that of a package.
const anyAgents = 'from typing import Any\ndef __getattr__(name: str) -> Any: ...\n';
const agentsOf = ({ agents }: PythonProject): string => agents || anyAgents;
const stubOf = ({ types }: PythonProject): string => `${programTypes}\n${types}`;
