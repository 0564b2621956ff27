// How the language service reads programs, without the options that are enums of the editor: tests read this file as well.

export const compilerOptions = {
  lib: ['es2023', 'esnext.collection'],
  types: [] as string[],
  strict: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
  skipLibCheck: true,
  esModuleInterop: true,
  allowImportingTsExtensions: true,
  allowArbitraryExtensions: true,
  allowNonTsExtensions: true,
};

/** JavaScript has no type annotations: a value without a known type is no error, a contradiction is. */
export const untypedOptions = { ...compilerOptions, noImplicitAny: false, useUnknownInCatchVariables: false };

/** Ignores "Could not find a declaration file", because the sandbox decides which modules can be imported. */
export const ignoredDiagnostics = [7016];
