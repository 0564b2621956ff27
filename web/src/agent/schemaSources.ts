// Whether the schemas of a draft follow its code.
import { useDeferredValue, useMemo } from 'react';
import { create } from 'zustand';
import type { FieldProblem, Language } from '../api/types';
import { codeDigestOf } from '../provenance/digest';
import { useOpenAgent, useOpenFiles } from './openAgent';

const typed: readonly Language[] = ['python', 'typescript', 'javascript'];

/** Whether the server can read the types of a language. */
export const hasTypes = (language: Language): boolean => typed.includes(language);

/** Returns the schemas that were inferred from code which has changed since. */
export function useOlderSchemas(): ('input' | 'output')[] {
  const { fields } = useOpenAgent();
  const files = useDeferredValue(useOpenFiles());
  const { schemaSources: sources, entrypoint } = fields;
  return useMemo(() => {
    const sides = (['input', 'output'] as const).filter((side) => sources?.[side]?.codeDigest !== undefined);
    if (sides.length === 0) return [];
    const digest = codeDigestOf(files, entrypoint);
    return sides.filter((side) => sources?.[side]?.codeDigest !== digest);
  }, [sources, files, entrypoint]);
}

/** Why the types of the open agent's code could not be read when they were last followed. */
export const useUnread = create<{ agent: string; problems: readonly FieldProblem[] }>(() => ({
  agent: '',
  problems: [],
}));
