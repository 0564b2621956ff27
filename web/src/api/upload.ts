// Uploads an archive with XMLHttpRequest, because fetch does not report the progress of an upload.
import { upload as say } from '../texts/api';
import { answerOf, apiBase, OfflineError, workspaceHeader } from './http';
import type { ImportReport } from './types';

interface Upload {
  /** Whether the server only checks the archive and writes nothing. */
  dryRun: boolean;
  /** Whether agents are listed in the public registry again, if they were listed at the time of the export. */
  listed: boolean;
  signal: AbortSignal;
  /** Reports the uploaded share, from 0 to 1. */
  onProgress: (share: number) => void;
}

export const importArchive = (file: Blob, upload: Upload): Promise<ImportReport> => send<ImportReport>(file, upload);

function send<T>(file: Blob, { dryRun, listed, signal, onProgress }: Upload): Promise<T> {
  return new Promise((done, failed) => {
    const call = new XMLHttpRequest();
    call.open('POST', `${apiBase}/archive?dryRun=${String(dryRun)}&listed=${String(listed)}`);
    call.setRequestHeader('Content-Type', 'application/gzip');
    call.setRequestHeader('Accept', 'application/json');
    for (const [name, value] of Object.entries(workspaceHeader())) call.setRequestHeader(name, value);
    call.upload.onprogress = (e) => onProgress(e.lengthComputable && e.total > 0 ? e.loaded / e.total : 0);
    call.onload = () => {
      try {
        done(answerOf(call.status, call.responseText, call.getResponseHeader('Retry-After')) as T);
      } catch (error) {
        failed(error instanceof Error ? error : new OfflineError());
      }
    };
    call.onerror = () => failed(new OfflineError());
    call.onabort = () => failed(new DOMException(say.stopped, 'AbortError'));
    signal.addEventListener('abort', () => call.abort());
    call.send(file);
  });
}
