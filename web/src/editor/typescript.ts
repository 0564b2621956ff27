// Configures TypeScript and JavaScript. The language service gets declarations of the engine's globals and of the
// agent's types, but not of browser APIs.
import { compilerOptions, ignoredDiagnostics, untypedOptions } from './compilerOptions';
import { registerCompletions } from './completions';
import { declarationOf, jsonModule } from './jsonModule';
import gojaTypes from './goja.d.ts.txt?raw';
import { monaco, typescript } from './monaco';
import { namesNode } from './nodeNames';
import programTypes from './program.d.ts.txt?raw';

const services = [typescript.typescriptDefaults, typescript.javascriptDefaults];

/** Declarations that are replaced together. */
class Library {
  private held: { dispose(): void }[] = [];
  private shown = '';

  constructor(private readonly services: Service[]) {}

  set(files: [uri: string, text: string][]): void {
    const text = JSON.stringify(files);
    if (text === this.shown) return;
    this.shown = text;
    for (const one of this.held) one.dispose();
    this.held = this.services.flatMap((service) => files.map(([uri, content]) => service.addExtraLib(content, uri)));
  }
}

type Service = typeof typescript.typescriptDefaults;

const agentTypes = new Library(services);
const engineTypes = new Library(services);
const packageFiles = new Library(services);
// Each service sees only the models of its own language. These are the other files of the agent.
const besideTypeScript = new Library([typescript.typescriptDefaults]);
const besideJavaScript = new Library([typescript.javascriptDefaults]);
const goja: [string, string][] = [['file:///atelier/goja.d.ts', gojaTypes]];
let wanted = '';

// The module resolution for bundlers, which reads `exports` of packages. Monaco's enumeration does not contain it.
const bundlers: number = 100;

export function setUpTypeScript(): void {
  for (const service of services) {
    service.setEagerModelSync(true);
    service.setCompilerOptions({
      ...(service === typescript.javascriptDefaults ? untypedOptions : compilerOptions),
      target: typescript.ScriptTarget.ESNext,
      module: typescript.ModuleKind.ESNext,
      // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- a value that Monaco's enumeration lacks
      moduleResolution: bundlers,
      // A file without imports is still a module. As a script, it would share its names with other files.
      moduleDetection: 3,
    });
    service.setDiagnosticsOptions({ diagnosticCodesToIgnore: ignoredDiagnostics });
    service.addExtraLib(programTypes, 'file:///atelier/program.d.ts');
  }
  registerCompletions();
  setEngine('goja', []);
  monaco.editor.onDidChangeMarkers((resources) => resources.forEach(dropAdvice));
}

// These messages advise the user to install packages or to change the configuration, which is not possible here.
const advice = / (?:Do you need to (?:install type definitions|change your target library)|Try changing the).*$/s;

function dropAdvice(resource: monaco.Uri): void {
  for (const owner of ['typescript', 'javascript']) {
    const markers = monaco.editor.getModelMarkers({ resource, owner });
    if (!markers.some(({ message }) => advice.test(message))) continue;
    const model = monaco.editor.getModel(resource);
    const short = markers.map((marker) => ({ ...marker, message: marker.message.replace(advice, '') }));
    if (model) monaco.editor.setModelMarkers(model, owner, short);
  }
}

/** Replaces the declarations of Input, Output and Environment. */
export function setTypes(declarations: string): void {
  agentTypes.set([['file:///atelier/agent-types.d.ts', declarations]]);
}

/** Replaces the declarations of installed npm packages. The paths start with node_modules. */
export function setPackageFiles(files: Record<string, string>): void {
  packageFiles.set(Object.entries(files).map(([path, text]) => [`file:///${path}`, text]));
}

/** Gives the services the files of the agent that have no models of their languages. */
export function setNeighbours(files: [uri: string, text: string][]): void {
  const json = files.filter(([uri]) => uri.endsWith('.json'));
  const modules = json.map(([uri, text]): [string, string] => [declarationOf(uri), jsonModule(text)]);
  const script = files.filter(([uri]) => /\.[cm]?jsx?$/.test(uri));
  const typed = files.filter(([uri]) => /\.[cm]?tsx?$/.test(uri));
  // If the agent has no file of a service's language, the service gets no files, because updates with every key would
  // only cost time.
  besideTypeScript.set(typed.length > 0 ? [...modules, ...script] : []);
  besideJavaScript.set(script.length > 0 ? [...modules, ...typed] : []);
}

/**
 * Declares the globals and modules that a program may use: those of its runtime and, with auto, also those that make
 * auto select Node.
 */
export function setEngine(runtime: string, sources: readonly string[]): void {
  const next = runtime === 'node' || (runtime === 'auto' && sources.some(namesNode)) ? 'node' : 'goja';
  if (next === wanted) return;
  wanted = next;
  if (next === 'goja') return engineTypes.set(goja);
  void import('./nodeTypes').then(
    ({ nodeTypes }) => {
      if (wanted === 'node') engineTypes.set(nodeTypes);
    },
    () => {
      // A failed download is repeated when the engine is set again. Until then, the declarations of goja stay.
      wanted = 'goja';
    },
  );
}
