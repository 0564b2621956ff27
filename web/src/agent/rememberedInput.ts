// Stores the last typed input of an agent in the browser, so that it survives a reload.
import { parseJson, type Json } from '../api/json';
import { keep, readStored } from '../api/storage';

const key = (id: string): string => `atelier.input.${id}`;

export const rememberInput = (id: string, text: string): void => void keep(key(id), text);

export const rememberedInput = (id: string): string | undefined => readStored(key(id), String);

/** Returns the last typed input as a value, or undefined if its text is not JSON. It may not fit the current schema. */
export const rememberedValue = (id: string): Json | undefined => readStored(key(id), parseJson);
