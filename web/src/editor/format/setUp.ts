// Registers the formatters of JavaScript, TypeScript and Python with Monaco.
import { notify } from '../../state/notices';
import { formatter as say } from '../../texts/editor';
import { monaco } from '../monaco';
import FormatterWorker from './formatter.worker?worker';
import type { FormatAnswer, FormatRequest } from './messages';

// The maximum time for formatting a program. After this time, the worker is ended and started again for the next file.
const formatTimeout = 20_000;

const languages: { language: FormatRequest['language']; displayName: string }[] = [
  { language: 'javascript', displayName: 'Prettier' },
  { language: 'typescript', displayName: 'Prettier' },
  { language: 'python', displayName: 'Ruff' },
];

export function setUpFormatters(): void {
  for (const { language, displayName } of languages)
    monaco.languages.registerDocumentFormattingEditProvider(language, {
      displayName,
      async provideDocumentFormattingEdits(model, { tabSize }, token) {
        const revision = model.getVersionId();
        const path = model.uri.path;
        const answer = await ask({ language, path, tabSize, code: model.getValue() });
        if (token.isCancellationRequested || model.getVersionId() !== revision) return [];
        if ('code' in answer) return [{ range: model.getFullModelRange(), text: answer.code }];
        notify('failed', say.notFormatted(answer.line, firstLine(answer.fault)));
        return [];
      },
    });
}

let worker: Worker | undefined;
let asked = 0;

function ask(request: Omit<FormatRequest, 'id'>): Promise<FormatAnswer> {
  const id = ++asked;
  const running = (worker ??= new FormatterWorker());
  return new Promise((done) => {
    const finish = (answer: FormatAnswer): void => {
      clearTimeout(timer);
      running.removeEventListener('message', heard);
      running.removeEventListener('error', broken);
      done(answer);
    };
    const heard = ({ data }: MessageEvent<FormatAnswer>): void => {
      if (data.id === id) finish(data);
    };
    const give = (fault: string): void => {
      running.terminate();
      if (worker === running) worker = undefined;
      finish({ id, fault, line: undefined });
    };
    const broken = (event: Event): void => {
      event.preventDefault();
      give(say.notLoaded);
    };
    const timer = setTimeout(() => give(say.tookTooLong), formatTimeout);
    running.addEventListener('message', heard);
    running.addEventListener('error', broken);
    running.postMessage({ id, ...request });
  });
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';
