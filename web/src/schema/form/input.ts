// Contains the input of a run, which the user edits as a form or as JSON. No typed text is lost: invalid JSON stays as
// text, the field keeps an unfinished number, and unknown keys are kept.
import { parseJson, stringifyJson, type Json } from '../../api/json';
import type { JsonSchema } from '../../api/types';
import { faultSentence } from '../locate';
import { get, join, set, tokens } from '../pointer';
import { initialValue } from './defaults';
import { followSchema } from './follow';

export interface InputState {
  mode: 'form' | 'json';
  value: Json;
  /** The JSON text. While the form is shown, the text is generated from the value. */
  text: string;
  /** The error in the JSON text. While there is an error, the value is the last valid one. */
  fault: string | undefined;
  /** Texts of fields that are not yet valid values, by pointer, for example "-" or "1e". */
  partial: Record<string, string>;
}

export type InputAction =
  | { do: 'set'; at: string; to: Json | undefined }
  | { do: 'type'; at: string; text: string; value: Json | undefined }
  | { do: 'text'; text: string }
  | { do: 'mode'; mode: 'form' | 'json' }
  | { do: 'replace'; value: Json }
  /** Called after the user has edited the schema. */
  | { do: 'follow'; before: JsonSchema; after: JsonSchema };

export function startInput(schema: JsonSchema, value: Json = initialValue(schema) ?? {}): InputState {
  return { mode: 'form', value, text: stringifyJson(value, 2), fault: undefined, partial: {} };
}

export function reduceInput(state: InputState, action: InputAction): InputState {
  switch (action.do) {
    case 'set': {
      const kept = forget(state.partial, action.at);
      const partial = action.to === undefined ? closeUp(kept, action.at, state.value) : kept;
      return withValue({ ...state, partial }, action.at, action.to);
    }
    case 'type': {
      const partial = forget(state.partial, action.at);
      if (action.value !== undefined || action.text === '')
        return withValue({ ...state, partial }, action.at, action.value);
      return { ...state, partial: { ...partial, [action.at]: action.text } };
    }
    case 'text':
      return readText(state, action.text);
    case 'mode':
      // A form cannot show invalid JSON, so the text view stays open.
      return state.fault !== undefined ? state : { ...state, mode: action.mode, partial: {} };
    case 'follow': {
      // The user is still typing an invalid JSON text, so the text does not change.
      if (state.fault !== undefined) return state;
      const value = followSchema(state.value, action.before, action.after);
      return value === state.value ? state : { ...state, value, text: stringifyJson(value, 2), partial: {} };
    }
    case 'replace':
      return { ...state, value: action.value, text: stringifyJson(action.value, 2), fault: undefined, partial: {} };
  }
}

function withValue(state: InputState, at: string, to: Json | undefined): InputState {
  const value = set(state.value, at, to) ?? {};
  return { ...state, value, text: stringifyJson(value, 2), fault: undefined };
}

function readText(state: InputState, text: string): InputState {
  try {
    return { ...state, text, value: parseJson(text), fault: undefined, partial: {} };
  } catch {
    return { ...state, text, fault: faultSentence(text) };
  }
}

function forget(partial: Record<string, string>, at: string): Record<string, string> {
  return Object.fromEntries(Object.entries(partial).filter(([k]) => k !== at && !k.startsWith(`${at}/`)));
}

/** When a list item is removed, the index of later items changes. The pointers of their unfinished texts change too. */
function closeUp(partial: Record<string, string>, at: string, value: Json): Record<string, string> {
  const index = Number(tokens(at).at(-1));
  const list = at.slice(0, at.lastIndexOf('/'));
  if (!Array.isArray(get(value, list))) return partial;
  const moved = (pointer: string): string => {
    const [item, ...rest] = pointer.startsWith(`${list}/`) ? pointer.slice(list.length + 1).split('/') : [];
    return Number(item) > index ? [join(list, Number(item) - 1), ...rest].join('/') : pointer;
  };
  return Object.fromEntries(Object.entries(partial).map(([pointer, text]) => [moved(pointer), text]));
}
