import { clipboard as say } from '../texts/app';
import { common } from '../texts/common';
import { notify } from './notices';

let turn = 0;

/**
 * Copies a text and returns whether this succeeded. If it failed, a notice is shown. It also works on plain HTTP, where
 * browsers have no navigator.clipboard. If the text is a promise, it is passed to the clipboard immediately, because
 * Safari allows a write only directly after a click. The caller handles a rejected promise. If another text is copied
 * in the meantime, this text is dropped.
 */
export async function copyText(text: string | Promise<string>): Promise<boolean> {
  const mine = ++turn;
  const inTurn = (known: string): string => {
    if (mine !== turn) throw new Error();
    return known;
  };
  if (window.isSecureContext) {
    try {
      await (typeof text === 'string' ? navigator.clipboard.writeText(text) : writePromised(text.then(inTurn)));
      return true;
    } catch {
      // The browser may deny the permission although the old command still works.
    }
  }
  const known = await text;
  if (mine !== turn) return false;
  const done = copyBySelection(known);
  const again = async (): Promise<void> => {
    if (await copyText(known)) notify('done', say.copied);
  };
  if (!done) notify('failed', say.notCopied, { label: common.retry, run: () => void again() });
  return done;
}

const writePromised = (text: Promise<string>): Promise<void> =>
  navigator.clipboard.write([
    new ClipboardItem({ 'text/plain': text.then((known) => new Blob([known], { type: 'text/plain' })) }),
  ]);

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  const before = document.activeElement;
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'visually-hidden';
  // The element must be inside an open dialog, because the dialog rejects focus outside of it.
  (before?.closest('[role=dialog]') ?? document.body).append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies on plain HTTP
  const done = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  downloadFrom(url, name);
  URL.revokeObjectURL(url);
}

/** Starts a download without loading the file into memory. The file name from the server takes precedence. */
export function downloadFrom(url: string, name: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
