import type { Json } from '../api/json';
import type { JsonSchema } from '../api/types';
import { exampleValue } from '../schema/form/defaults';
import { check } from '../schema/validate';
import { rememberedValue } from './rememberedInput';

/**
 * Returns the last input that the user typed, if this version accepts it. Otherwise it returns an example that is made
 * from the schema.
 */
export function exampleInput(id: string, inputSchema: JsonSchema): Json {
  const typed = rememberedValue(id);
  return typed !== undefined && check(typed, inputSchema).length === 0 ? typed : exampleValue(inputSchema);
}
