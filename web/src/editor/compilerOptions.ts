// Contains the compiler options of the language service, without those that are enums of the editor. Tests read this
// file too, and the enums exist only in the browser.

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

/** JavaScript has no type annotations. So a value without a known type is not an error, but a contradiction is. */
export const untypedOptions = { ...compilerOptions, noImplicitAny: false, useUnknownInCatchVariables: false };

/** Ignores the error "Could not find a declaration file", because the sandbox decides which modules can be imported. */
export const ignoredDiagnostics = [7016];
