// Loads Monaco once. The download starts with the page, so that it runs during the first paint.
import type { EditorKit } from './kit';

let loading: Promise<EditorKit> | undefined;

export function loadEditor(): Promise<EditorKit> {
  loading ??= import('./kit')
    .then((module) => module.openKit())
    .catch((error: unknown) => {
      // A failed download is not stored, so the next attempt can succeed.
      loading = undefined;
      throw error;
    });
  return loading;
}
