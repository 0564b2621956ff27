// The runtimes and isolation modes that a user can select.
import type { Capabilities, Language } from '../api/types';
import { runtimes as say } from '../texts/config';

export interface RuntimeOption {
  runtime: string;
  label: string;
  /** Why it cannot be selected on this server, and how to change that. */
  missing: string | undefined;
}

type LanguageState = Capabilities['languages'][number];

/** Returns the runtimes of a language, including unavailable ones with their reasons. */
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

/** The isolation settings. A removed one is listed only for a draft that still has it, so that another can be selected. */
export function isolationOptions(present: string): IsolationOption[] {
  const all = [
    { isolation: '', label: say.theRuntimesOwn },
    { isolation: 'strict', label: say.strictAFreshProcess },
  ];
  if (!all.some((o) => o.isolation === present)) all.push({ isolation: present, label: say.removed(present) });
  return all;
}
