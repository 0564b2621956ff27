// Named inputs, stored in the browser per agent.
import { parseJson } from '../../api/json';
import { entriesOf, isText, keep, readStored } from '../../api/storage';

const key = (id: string): string => `atelier.inputs.${id}`;

/** Name and JSON text, in the order of saving. */
export type SavedInputs = Record<string, string>;

export const savedInputs = (id: string): SavedInputs =>
  readStored(key(id), (text) => entriesOf(parseJson(text), isText)) ?? {};

/** Stores the inputs. Returns false if storage is full or blocked. */
export const keepInputs = (id: string, inputs: SavedInputs): boolean => keep(key(id), JSON.stringify(inputs));
