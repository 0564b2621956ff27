// The part of Monaco's TypeScript worker that ts.worker.ts extends. Monaco ships no types for it.
declare module 'monaco-editor/languages/features/typescript/ts.worker' {
  import type { LanguageService } from 'typescript';

  export class TypeScriptWorker {
    constructor(context: unknown, data: unknown);
    getCurrentDirectory(): string;
    getLanguageService(): LanguageService;
  }
  export function initialize(create: (context: unknown, data: unknown) => TypeScriptWorker): void;
}
