// The part of the language server protocol that has no types in vscode-languageserver-types.
import type { Diagnostic } from 'vscode-languageserver-types';

export interface PublishDiagnosticsParams {
  uri: string;
  diagnostics: Diagnostic[];
}
