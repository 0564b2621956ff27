// TypeScript and JavaScript in the editor: the language service sees the globals of the engine, the agent's typed input and
// output, and nothing of a browser.
import { declarationOf, jsonModule } from './jsonModule';
import gojaTypes from './goja.d.ts.txt?raw';
import { typescript } from './monaco';
import programTypes from './program.d.ts.txt?raw';

const services = [typescript.typescriptDefaults, typescript.javascriptDefaults];

/** Declarations that are replaced as a whole. */
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
// Each service has the models of its own language; these are an agent's other files.
const besideTypeScript = new Library([typescript.typescriptDefaults]);
const besideJavaScript = new Library([typescript.javascriptDefaults]);
const goja: [string, string][] = [['file:///atelier/goja.d.ts', gojaTypes]];
// Plain JavaScript says no types; what it leaves open is no fault, what contradicts itself is.
const untyped = { noImplicitAny: false, useUnknownInCatchVariables: false };
let wanted = '';

export function setUpTypeScript(): void {
  for (const service of services) {
    service.setEagerModelSync(true);
    service.setCompilerOptions({
      target: typescript.ScriptTarget.ESNext,
      module: typescript.ModuleKind.ESNext,
      moduleResolution: typescript.ModuleResolutionKind.NodeJs,
      lib: ['es2023'],
      types: [],
      strict: true,
      ...(service === typescript.javascriptDefaults && untyped),
      allowJs: true,
      checkJs: true,
      noEmit: true,
      skipLibCheck: true,
      esModuleInterop: true,
      allowImportingTsExtensions: true,
      allowArbitraryExtensions: true,
      allowNonTsExtensions: true,
      // A file without imports is still one file, not a script that shares its names with the others.
      moduleDetection: 3,
    });
    service.setDiagnosticsOptions({
      // "Could not find a declaration file": the sandbox decides what can be imported.
      diagnosticCodesToIgnore: [7016],
    });
    service.addExtraLib(programTypes, 'file:///atelier/program.d.ts');
  }
  setEngine('goja');
}

/** Replaces the declarations of Input, Output and Environment. */
export function setTypes(declarations: string): void {
  agentTypes.set([['file:///atelier/agent-types.d.ts', declarations]]);
}

/** Shows the services those files of an agent that they do not see as models. */
export function setNeighbours(files: [uri: string, text: string][]): void {
  const json = files.filter(([uri]) => uri.endsWith('.json'));
  const modules = json.map(([uri, text]): [string, string] => [declarationOf(uri), jsonModule(text)]);
  const script = files.filter(([uri]) => /\.[cm]?jsx?$/.test(uri));
  const typed = files.filter(([uri]) => /\.[cm]?tsx?$/.test(uri));
  // A service without a file of its language is not asked; giving it the others at every key would cost and serve nobody.
  besideTypeScript.set(typed.length > 0 ? [...modules, ...script] : []);
  besideJavaScript.set(script.length > 0 ? [...modules, ...typed] : []);
}

/** Replaces the globals and modules by those of an engine; one that is not Node has those of goja. */
export function setEngine(engine: string): void {
  const next = engine === 'node' ? 'node' : 'goja';
  if (next === wanted) return;
  wanted = next;
  if (next === 'goja') return engineTypes.set(goja);
  void import('./nodeTypes').then(
    ({ nodeTypes }) => {
      if (wanted === 'node') engineTypes.set(nodeTypes);
    },
    () => {
      // A failed download is tried again when the engine is set the next time; until then goja's stay.
      wanted = 'goja';
    },
  );
}
