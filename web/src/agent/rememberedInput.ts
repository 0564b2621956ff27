// The input that was typed last for an agent, kept in the browser so that a reload does not lose it.
import { parseJson, type Json } from '../api/json';
import { keep, readKept } from '../api/storage';

const key = (id: string): string => `atelier.input.${id}`;

export const rememberInput = (id: string, text: string): void => void keep(key(id), text);

export const rememberedInput = (id: string): string | undefined => readKept(key(id), String);

/** The value that was typed last, whichever schema it was typed for; undefined while its text is not JSON. */
export const rememberedValue = (id: string): Json | undefined => readKept(key(id), parseJson);
