// TypeScript and JavaScript in the editor: the language service sees the globals of the engine, the agent's typed input and
// output, and nothing of a browser.
import gojaTypes from './goja.d.ts.txt?raw';
import { typescript } from './monaco';
import programTypes from './program.d.ts.txt?raw';

const services = [typescript.typescriptDefaults, typescript.javascriptDefaults];

/** Declarations that are replaced as a whole. */
class Library {
  private held: { dispose(): void }[] = [];

  set(files: [uri: string, text: string][]): void {
    for (const one of this.held) one.dispose();
    this.held = services.flatMap((service) => files.map(([uri, text]) => service.addExtraLib(text, uri)));
  }
}

const agentTypes = new Library();
const engineTypes = new Library();
const goja: [string, string][] = [['file:///atelier/goja.d.ts', gojaTypes]];
let current = '';
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
      allowJs: true,
      checkJs: true,
      noEmit: true,
      skipLibCheck: true,
      esModuleInterop: true,
      allowImportingTsExtensions: true,
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
  if (declarations === current) return;
  current = declarations;
  agentTypes.set([['file:///atelier/agent-types.d.ts', declarations]]);
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
