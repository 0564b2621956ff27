// Shows the suggestions of a language model as Monaco's inline completions. Tab accepts a suggestion and Escape
// dismisses it. If the user continues to type, the request is cancelled.
import 'monaco-editor/editor/contrib/inlineCompletions/browser/inlineCompletions.contribution';
import { CancellationError } from 'monaco-editor/base/common/errors';
import { completeCode } from '../../api/assist';
import { ApiError } from '../../api/http';
import { monaco } from '../monaco';
import type { SpotOf } from '../suggestions';

/** The pause in typing, in milliseconds, after which the model is asked. */
const debounceDelayMs = 350;
/**
 * The time in milliseconds without requests after a refusal that does not state a time. It is also the maximum time
 * after any refusal.
 */
const longestRestMs = 60_000;
/** The time in milliseconds without requests after a request that got no answer. */
const shortRestMs = 5_000;

let resting = -Infinity;

// Loads the keys of inline completions at the start, because Monaco reads the default keys of its features then.
monaco.editor.addKeybindingRules([]);

// Monaco announces a suggestion after 50 ms. If the suggestion disappears before, Monaco does not catch its own
// cancellation.
addEventListener('unhandledrejection', (event) => {
  if (event.reason instanceof CancellationError) event.preventDefault();
});

export function suggest(spotOf: SpotOf): monaco.IDisposable {
  return monaco.languages.registerInlineCompletionsProvider(['javascript', 'typescript', 'python', 'shell'], {
    debounceDelayMs,
    async provideInlineCompletions(model, position, { selectedSuggestionInfo }, token) {
      const spot = spotOf(model, position);
      // If an item of the suggestion list is selected, there is no text that a model could continue.
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
