// Groups the engines and languages of the server for the server page.
import type { Capabilities, RuntimeState } from '../../api/types';

type Language = RuntimeState['language'];
type LanguageState = Capabilities['languages'][number];

/** An engine with all its languages. The languages share the engine's workers, so their counters are the same. */
export interface EngineRow extends Pick<RuntimeState, 'runtime' | 'ready' | 'queue' | 'workers'> {
  languages: Language[];
}

/** Groups the states by engine. For an engine that is ready, it lists only the languages that it can run. */
export function enginesOf(states: readonly RuntimeState[]): EngineRow[] {
  const found = new Map<string, EngineRow>();
  for (const { language, runtime, ready, queue, workers } of states) {
    const known = found.get(runtime);
    if (!known) found.set(runtime, { runtime, ready, queue, workers, languages: [language] });
    else if (known.ready === ready) known.languages.push(language);
    else if (ready) found.set(runtime, { ...known, ready, languages: [language] });
  }
  return [...found.values()];
}

/** Returns the reason for each engine that can run no language, by the name of the engine. */
export function reasonsOf(languages: readonly LanguageState[]): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const { engines = [] } of languages) {
    for (const { runtime, available, reason = '' } of engines) {
      if (!available && reason !== '') reasons.set(runtime, reason);
    }
  }
  return reasons;
}

export interface Unavailable {
  languages: Language[];
  /** The reasons, one per engine. A reason without an engine applies to the whole server. */
  reasons: { runtime?: string; reason: string }[];
}

/** Returns the languages that no engine can run. Languages with the same reasons form one entry. */
export function unavailableOf(languages: readonly LanguageState[]): Unavailable[] {
  const found = new Map<string, Unavailable>();
  for (const { language, available, engines = [], reason = '' } of languages) {
    if (engines.length === 0 ? available : engines.some((engine) => engine.available)) continue;
    const reasons = engines.map(({ runtime, reason: why = '' }) => ({ runtime, reason: why }));
    const entry = reasons.length === 0 ? [{ reason }] : reasons;
    const key = JSON.stringify(entry);
    const known = found.get(key);
    if (known) known.languages.push(language);
    else found.set(key, { languages: [language], reasons: entry });
  }
  return [...found.values()];
}
