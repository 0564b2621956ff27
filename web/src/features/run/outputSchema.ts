import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { isObject, type Json } from '../../api/json';
import type { JsonSchema, RunAnswer } from '../../api/types';
import { getAgent, getVersion } from '../../api/verbs';
import { pinnedOf } from '../../app/urlState';
import { check } from '../../schema/validate';

/** The version on the screen, which may be the one that ran. Without a number it is the draft. */
export interface OnScreen {
  version: string | undefined;
  outputSchema: JsonSchema;
}

export type Fit = 'passed' | 'failed' | undefined;

/** Whether an output fits its schema, as the server found; undefined where nothing was asked of it. */
export function useFit({ output, validation, provenance }: RunAnswer, now: OnScreen | undefined): Fit {
  const { agent = '', version } = provenance;
  const pinned = pinnedOf(version);
  const known = now?.version === pinned ? now?.outputSchema : undefined;
  const [first] = useState(known);
  const found = useQuery({
    queryKey: ['outputSchema', agent, pinned],
    queryFn: async () =>
      pinned === undefined
        ? (await getAgent(agent)).draft.outputSchema
        : (await getVersion(agent, pinned)).outputSchema,
    enabled: agent !== '' && known === undefined,
    gcTime: 0,
    staleTime: Infinity,
  });
  const schema = known ?? found.data;
  return useMemo(
    () => fitOf(validation.output, output, schema, pinned === undefined && known !== first),
    [validation.output, output, schema, pinned, known, first],
  );
}

/** A schema of a draft that is another now than when the result came is looked at here. */
export function fitOf(verdict: string, output: Json, schema: JsonSchema | undefined, changed: boolean): Fit {
  if (verdict !== 'passed' && verdict !== 'failed') return undefined;
  if (changed && asksForSomething(schema)) return check(output, schema).length === 0 ? 'passed' : 'failed';
  if (changed) return undefined;
  return verdict === 'failed' || asksForSomething(schema) ? verdict : undefined;
}

/** Whether a schema asks for anything: what does not is fitted by all. */
export const asksForSomething = (schema: JsonSchema | undefined): schema is JsonSchema =>
  isObject(schema) ? Object.keys(schema).some((key) => !words.includes(key)) : schema === false;

const words = ['$schema', '$id', '$comment', '$defs', 'title', 'description', 'examples'];
