import type { Json } from '../api/json';
import type { JsonSchema } from '../api/types';
import { exampleValue } from '../schema/form/defaults';
import { check } from '../schema/validate';
import { rememberedValue } from './rememberedInput';

/** Returns the last typed input if this version accepts it, else an example made from the schema. */
export function exampleInput(id: string, inputSchema: JsonSchema): Json {
  const typed = rememberedValue(id);
  return typed !== undefined && check(typed, inputSchema).length === 0 ? typed : exampleValue(inputSchema);
}
