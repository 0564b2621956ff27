import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { isObject, type Json } from '../../api/json';
import type { JsonSchema, RunAnswer } from '../../api/types';
import { getAgent, getVersion } from '../../api/verbs';
import { pinnedOf } from '../../state/urlState';
import { check } from '../../schema/validate';

/** The version on the screen, which may be the one that ran. Without a number it is the draft. */
export interface OnScreen {
  id: string;
  version: string | undefined;
  outputSchema: JsonSchema;
}

/** Whether an output fits the schema that there is now; or how it fared by the one of its time, where that may be another. */
export type Fit = 'passed' | 'failed' | 'passedThen' | 'failedThen' | undefined;

/** Whose schema it is: of the version that ran, of a draft that may have been changed since, of one that was while one looked. */
export type Whose = 'version' | 'draft' | 'changedDraft';

/** Whether an output fits its schema; undefined where nothing was asked of it. */
export function useFit({ output, validation, provenance, metadata }: RunAnswer, now: OnScreen | undefined): Fit {
  const { agent = '', version } = provenance;
  const pinned = pinnedOf(version);
  const known = now?.id === metadata.agentId && now?.version === pinned ? now?.outputSchema : undefined;
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
  const inline = agent === ''; // what it was held against came with it, and is not kept
  const whose = pinned !== undefined || inline ? 'version' : known === first ? 'draft' : 'changedDraft';
  return useMemo(
    () => (found.isLoading ? undefined : fitOf(validation.output, output, schema, whose)),
    [found.isLoading, validation.output, output, schema, whose],
  );
}

/** The server held an output against the schema of its time. That of a draft is not kept, so the one of now is asked as well. */
export function fitOf(verdict: string, output: Json, schema: JsonSchema | undefined, whose: Whose): Fit {
  if (verdict !== 'passed' && verdict !== 'failed') return undefined;
  const asks = asksForSomething(schema);
  if (whose === 'version') return verdict === 'failed' || asks ? verdict : undefined;
  const now = asks ? (check(output, schema).length === 0 ? 'passed' : 'failed') : undefined;
  if (now === verdict || whose === 'changedDraft') return now;
  if (verdict === 'failed') return 'failedThen';
  return asks ? 'passedThen' : undefined; // where nothing is asked now, nothing may have been asked then
}

/** Whether a schema asks for anything: what does not is fitted by all. */
export const asksForSomething = (schema: JsonSchema | undefined): schema is JsonSchema =>
  isObject(schema) ? Object.keys(schema).some((key) => !words.includes(key)) : schema === false;

const words = ['$schema', '$id', '$comment', '$defs', 'title', 'description', 'examples'];
