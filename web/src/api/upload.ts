// Uploads an archive. Only XMLHttpRequest reports upload progress.
import { upload as say } from '../texts/api';
import { answerOf, apiBase, OfflineError, workspaceHeader } from './http';
import type { ImportReport } from './types';

interface Upload {
  /** Validates the archive without writing. */
  dryRun: boolean;
  /** Lists agents in the public registry again if they were listed at export. */
  listed: boolean;
  signal: AbortSignal;
  /** The uploaded share, from 0 to 1. */
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
