// Determines whether the schemas of a draft still match its code.
import { useDeferredValue, useMemo } from 'react';
import { create } from 'zustand';
import type { FieldProblem, Language } from '../api/types';
import { codeDigestOf } from '../provenance/digest';
import { useOpenAgent, useOpenFiles } from './openAgent';

const typed: readonly Language[] = ['python', 'typescript', 'javascript'];

/** Whether the server can infer schemas from the types of a language. */
export const hasTypes = (language: Language): boolean => typed.includes(language);

/** Returns the schemas that were inferred from code that has changed since then. */
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

/** The reason why the types of the open agent's code could not be read at the last attempt. */
export const useUnread = create<{ agent: string; problems: readonly FieldProblem[] }>(() => ({
  agent: '',
  problems: [],
}));
