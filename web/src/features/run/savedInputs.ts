// Inputs that a person gave a name, kept in the browser for each agent.
import { parseJson } from '../../api/json';
import { entriesOf, isText, keep, readKept } from '../../api/storage';

const key = (id: string): string => `atelier.inputs.${id}`;

/** Name and JSON text, in the order they were saved. */
export type SavedInputs = Record<string, string>;

export const savedInputs = (id: string): SavedInputs =>
  readKept(key(id), (text) => entriesOf(parseJson(text), isText)) ?? {};

/** Keeps the inputs; false when the browser has no room for them. */
export const keepInputs = (id: string, inputs: SavedInputs): boolean => keep(key(id), JSON.stringify(inputs));
