// The runtimes and isolation modes that a user can select.
import type { Capabilities, Language } from '../api/types';
import { runtimes as say } from '../texts/config';

export interface RuntimeOption {
  runtime: string;
  label: string;
  /** The reason why the runtime cannot be selected on this server, and how to fix that. */
  missing: string | undefined;
}

type LanguageState = Capabilities['languages'][number];

/** Returns the runtimes of a language. A runtime that is not available has a reason. */
export function runtimeOptions(known: LanguageState | undefined, present: string): RuntimeOption[] {
  const names = [...new Set(['auto', ...(known?.runtimes ?? []), present])];
  return names.map((runtime) => {
    const engine = known?.engines?.find((e) => e.runtime === runtime);
    const missing = engine?.available === false ? (engine.reason ?? say.itIsNotOn) : undefined;
    const label = say.elsewhere(runtime) ?? runtime;
    return { runtime, label: missing === undefined ? label : say.notHere(label), missing };
  });
}

export interface IsolationOption {
  isolation: string;
  label: string;
}

const isJavaScript = (language: Language): boolean => language === 'javascript' || language === 'typescript';

/** Whether "auto" can select more than one runtime. */
export const hasChoice = (language: Language, runtime: string): boolean => isJavaScript(language) && runtime === 'auto';

/**
 * Returns the isolation settings that a user can select. A removed setting is listed only for a draft that still has
 * it, so that the user can select another one.
 */
export function isolationOptions(present: string): IsolationOption[] {
  const all = [
    { isolation: '', label: say.theRuntimesOwn },
    { isolation: 'strict', label: say.strictAFreshProcess },
  ];
  if (!all.some((o) => o.isolation === present)) all.push({ isolation: present, label: say.removed(present) });
  return all;
}
