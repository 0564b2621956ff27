// Inputs that a person gave a name, kept in the browser for each agent.
import { isObject, parseJson } from '../../api/json';

const key = (id: string): string => `atelier.inputs.${id}`;

/** Name and JSON text, in the order they were saved. */
export type SavedInputs = Record<string, string>;

export function savedInputs(id: string): SavedInputs {
  try {
    const kept = parseJson(localStorage.getItem(key(id)) ?? '{}');
    if (!isObject(kept)) return {};
    return Object.fromEntries(
      Object.entries(kept).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return {};
  }
}

/** Keeps the inputs; false when the browser has no room for them. */
export function keepInputs(id: string, inputs: SavedInputs): boolean {
  try {
    localStorage.setItem(key(id), JSON.stringify(inputs));
    return true;
  } catch {
    return false;
  }
}
