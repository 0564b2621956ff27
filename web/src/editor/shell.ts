// Formats Bash on the server, which parses it in the sandbox. The page has no Bash parser.
import { format } from '../api/verbs';
import { notify } from '../state/notices';
import { shell as say } from '../texts/editor';
import { monaco } from './monaco';

export function setUpShell(): void {
  monaco.languages.registerDocumentFormattingEditProvider('shell', {
    displayName: 'shfmt',
    async provideDocumentFormattingEdits(model, { tabSize }, token) {
      const revision = model.getVersionId();
      const { code, errors } = await format(model.getValue(monaco.editor.EndOfLinePreference.LF), tabSize);
      const [error] = errors;
      if (error) notify('failed', say.notFormatted(error.line ?? 1, error.message));
      if (error || token.isCancellationRequested || model.getVersionId() !== revision) return [];
      return [{ range: model.getFullModelRange(), text: code }];
    },
  });
}
