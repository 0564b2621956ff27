// Code that a language model suggests while a person types. Monaco's part of it is loaded when the setting is switched on.
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
      loading = undefined; // the next try can succeed
      throw error;
    },
  );
  return loading;
}

/** Returns the place at which a person types, or undefined where nothing is suggested. */
export type SpotOf = (model: monaco.editor.ITextModel, position: monaco.Position) => Spot | undefined;

/** Suggests code in the models for which there is a place. Without the loaded code it does nothing. */
export const suggest = (spotOf: SpotOf): monaco.IDisposable => shown?.suggest(spotOf) ?? { dispose: () => undefined };
