// Requests code that a language model suggests while the user types. The part for Monaco is loaded when the user
// switches the setting on.
import type { Spot } from '../api/assist';
import type { monaco } from './monaco';

type Shown = typeof import('./suggestions/show');

let shown: Shown | undefined;
let loading: Promise<void> | undefined;

export const suggestionsLoaded = (): boolean => shown !== undefined;

export function loadSuggestions(): Promise<void> {
  loading ??= import('./suggestions/show').then(
    (module) => {
      shown = module;
    },
    (error: unknown) => {
      loading = undefined; // forgets the failed download, so that the next attempt can succeed
      throw error;
    },
  );
  return loading;
}

/** Returns the position at which the user types, or undefined if nothing may be suggested there. */
export type SpotOf = (model: monaco.editor.ITextModel, position: monaco.Position) => Spot | undefined;

/** Shows suggestions in the models for which a position exists. It does nothing until the code is loaded. */
export const suggest = (spotOf: SpotOf): monaco.IDisposable => shown?.suggest(spotOf) ?? { dispose: () => undefined };
