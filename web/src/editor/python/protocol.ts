// Protocol types that vscode-languageserver-types does not have.
import type { Diagnostic } from 'vscode-languageserver-types';

export interface PublishDiagnosticsParams {
  uri: string;
  diagnostics: Diagnostic[];
}
