// Shows suggestions of a language model with Monaco's inline completions: Tab accepts, Escape dismisses, and typing on
// cancels the request.
import 'monaco-editor/editor/contrib/inlineCompletions/browser/inlineCompletions.contribution';
import { CancellationError } from 'monaco-editor/base/common/errors';
import { completeCode } from '../../api/assist';
import { ApiError } from '../../api/http';
import { monaco } from '../monaco';
import type { SpotOf } from '../suggestions';

/** How long a person must not type before the model is asked. */
const debounceDelayMs = 350;
/** How long the model is not asked after a refusal that names no time, and at most after any. */
const longestRestMs = 60_000;
/** How long it is not asked after a request without an answer. */
const shortRestMs = 5_000;

let resting = -Infinity;

// Makes the keys of inline completions known. Monaco reads the default keys of features at its start.
monaco.editor.addKeybindingRules([]);

// Monaco waits 50 ms to announce a suggestion, and does not catch its own cancellation if the suggestion goes before.
addEventListener('unhandledrejection', (event) => {
  if (event.reason instanceof CancellationError) event.preventDefault();
});

export function suggest(spotOf: SpotOf): monaco.IDisposable {
  return monaco.languages.registerInlineCompletionsProvider(['javascript', 'typescript', 'python', 'shell'], {
    debounceDelayMs,
    async provideInlineCompletions(model, position, { selectedSuggestionInfo }, token) {
      const spot = spotOf(model, position);
      // An item of the suggestion list has no text that a model could continue.
      if (!spot || selectedSuggestionInfo || performance.now() < resting) return undefined;
      const request = new AbortController();
      token.onCancellationRequested(() => request.abort());
      try {
        const insertText = await completeCode(spot, request.signal);
        return { items: insertText === '' ? [] : [{ insertText, range: monaco.Range.fromPositions(position) }] };
      } catch (error) {
        const wait = error instanceof ApiError ? (error.retryAfter ?? Infinity) * 1000 : shortRestMs;
        if (!request.signal.aborted) resting = performance.now() + Math.min(wait, longestRestMs);
        return undefined;
      }
    },
    disposeInlineCompletions: () => undefined,
  });
}
