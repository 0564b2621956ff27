// Monaco is fetched once. It is asked for at once when the page starts, so that the download overlaps the first paint.
import type { EditorKit } from './kit';

let loading: Promise<EditorKit> | undefined;

export function loadEditor(): Promise<EditorKit> {
  loading ??= import('./kit')
    .then((module) => module.openKit())
    .catch((error: unknown) => {
      // A failed download must not be remembered; the next try may find the network again.
      loading = undefined;
      throw error;
    });
  return loading;
}
