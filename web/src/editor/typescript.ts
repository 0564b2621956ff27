// TypeScript and JavaScript in the editor: the language service sees the sandbox's globals, the agent's typed input and
// output, and nothing of a browser.
import { typescript } from './monaco';
import sandboxTypes from './sandbox.d.ts.txt?raw';

const services = [typescript.typescriptDefaults, typescript.javascriptDefaults];
let current = '';
let libraries: { dispose(): void }[] = [];

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
    service.addExtraLib(sandboxTypes, 'file:///atelier/sandbox.d.ts');
  }
}

/** Replaces the declarations of Input, Output and Environment. */
export function setTypes(declarations: string): void {
  if (declarations === current) return;
  current = declarations;
  for (const library of libraries) library.dispose();
  libraries = services.map((service) => service.addExtraLib(declarations, 'file:///atelier/agent-types.d.ts'));
}
