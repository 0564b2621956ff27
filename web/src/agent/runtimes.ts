// What can be chosen to run a program, and how its runs are kept apart.
import type { Capabilities, Language } from '../api/types';
import { runtimes as say } from '../texts/config';

export interface RuntimeOption {
  runtime: string;
  label: string;
  /** Why it cannot be chosen here, and what would help. */
  missing: string | undefined;
}

type LanguageState = Capabilities['languages'][number];

/** The runtimes of a language. One that is not on this server is there, so that what is missing can be read. */
export function runtimeOptions(known: LanguageState | undefined, present: string): RuntimeOption[] {
  const names = [...new Set(['auto', ...(known?.runtimes ?? []), present])];
  return names.map((runtime) => {
    const engine = known?.engines?.find((e) => e.runtime === runtime);
    const missing = engine?.available === false ? (engine.reason ?? say.itIsNotOn) : undefined;
    return { runtime, label: missing === undefined ? runtime : say.notHere(runtime), missing };
  });
}

export interface IsolationOption {
  isolation: string;
  label: string;
}

const isJavaScript = (language: Language): boolean => language === 'javascript' || language === 'typescript';

/** Whether auto has more than one answer. */
export const hasChoice = (language: Language, runtime: string): boolean => isJavaScript(language) && runtime === 'auto';

/** Only Node can be told to serve several runs by one process. */
export const mayReuse = (language: Language, runtime: string): boolean =>
  isJavaScript(language) && (runtime === 'auto' || runtime === 'node');

export function isolationOptions(language: Language, runtime: string): IsolationOption[] {
  const all = [
    { isolation: '', label: say.theRuntimesOwn },
    { isolation: 'strict', label: say.strictAFreshProcess },
  ];
  if (mayReuse(language, runtime)) all.push({ isolation: 'reuse', label: say.reuseOneProcessOfNode });
  return all;
}
