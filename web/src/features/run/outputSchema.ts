import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { isObject, type Json } from '../../api/json';
import type { JsonSchema, RunAnswer } from '../../api/types';
import { getAgent, getVersion } from '../../api/verbs';
import { pinnedOf } from '../../state/urlState';
import { check } from '../../schema/validate';

/** The version on the screen, which may be the version that ran. An undefined number means the draft. */
export interface OnScreen {
  id: string;
  version: string | undefined;
  outputSchema: JsonSchema;
}

/**
 * Whether the output fits the current schema. If the schema may have changed, the value says whether the output fitted
 * the schema at the time of the run.
 */
export type Fit = 'passed' | 'failed' | 'passedThen' | 'failedThen' | undefined;

/**
 * The source of the schema: the version that ran, a draft that may have changed since the run, or the draft at the time
 * of loading.
 */
export type Whose = 'version' | 'draft' | 'changedDraft';

/**
 * Returns the schema of the output, and whether the output fits the schema. The second value is undefined if the schema
 * has no constraints.
 */
export function useFit(
  { output, validation, provenance, metadata }: RunAnswer,
  now: OnScreen | undefined,
): { fit: Fit; schema: JsonSchema | undefined } {
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
  const inline = agent === ''; // the schema at the time of the run is not stored
  const whose = pinned !== undefined || inline ? 'version' : known === first ? 'draft' : 'changedDraft';
  const fit = useMemo(
    () => (found.isLoading ? undefined : fitOf(validation.output, output, schema, whose)),
    [found.isLoading, validation.output, output, schema, whose],
  );
  return { fit, schema };
}

/**
 * The server has checked the output against the schema at the time of the run. It does not store old schemas of drafts,
 * so the output is also checked against the current schema.
 */
export function fitOf(verdict: string, output: Json, schema: JsonSchema | undefined, whose: Whose): Fit {
  if (verdict !== 'passed' && verdict !== 'failed') return undefined;
  const asks = asksForSomething(schema);
  if (whose === 'version') return verdict === 'failed' || asks ? verdict : undefined;
  const now = asks ? (check(output, schema).length === 0 ? 'passed' : 'failed') : undefined;
  if (now === verdict || whose === 'changedDraft') return now;
  if (verdict === 'failed') return 'failedThen';
  return asks ? 'passedThen' : undefined; // the current schema has no constraints, and the schema at the time of the run may have had none
}

/** Whether a schema has constraints. Every value fits a schema without constraints. */
export const asksForSomething = (schema: JsonSchema | undefined): schema is JsonSchema =>
  isObject(schema) ? Object.keys(schema).some((key) => !words.includes(key)) : schema === false;

const words = ['$schema', '$id', '$comment', '$defs', 'title', 'description', 'examples'];
