// Stores the last input that the user typed for an agent. It is in the browser's storage, so it survives a reload.
import { parseJson, type Json } from '../api/json';
import { keep, readStored } from '../api/storage';

const key = (id: string): string => `atelier.input.${id}`;

export const rememberInput = (id: string, text: string): void => void keep(key(id), text);

export const rememberedInput = (id: string): string | undefined => readStored(key(id), String);

/**
 * Returns the last input that the user typed as a value. Returns undefined if the text is not valid JSON. The value may
 * not fit the current schema.
 */
export const rememberedValue = (id: string): Json | undefined => readStored(key(id), parseJson);
