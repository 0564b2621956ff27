// The input that was typed last for an agent, kept in the browser so that a reload does not lose it.
import { parseJson, type Json } from '../../api/json';
import { forgetKept, keep, readKept } from '../../api/kept';

const key = (id: string): string => `atelier.input.${id}`;
const fittingKey = (id: string): string => `atelier.fitting.${id}`;

/** Keeps what is typed, and whether it fits: who only shows how the agent is called has nothing to check it with. */
export function rememberInput(id: string, text: string, fits: boolean): void {
  keep(key(id), text);
  if (fits) keep(fittingKey(id), text);
  else forgetKept(fittingKey(id));
}

export function rememberedInput(id: string): string | undefined {
  return readKept(key(id), String);
}

/** What was typed last, unless it does not fit. */
export function fittingInput(id: string): Json | undefined {
  return readKept(fittingKey(id), parseJson);
}
