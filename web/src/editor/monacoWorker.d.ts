// Declares parts of Monaco that have no types: the TypeScript worker that ts.worker.ts extends, and Monaco's
// cancellation.
declare module 'monaco-editor/languages/features/typescript/ts.worker' {
  import type { LanguageService } from 'typescript';

  export class TypeScriptWorker {
    constructor(context: unknown, data: unknown);
    getCurrentDirectory(): string;
    getLanguageService(): LanguageService;
  }
  export function initialize(create: (context: unknown, data: unknown) => TypeScriptWorker): void;
}

declare module 'monaco-editor/base/common/errors' {
  export class CancellationError extends Error {}
}
