// The world of a draft session in a browser: the API, and localStorage as the place that survives a closed tab.
import { getAgent, saveAgent } from '../../api/verbs';
import type { Content, SessionWorld } from './session';

const key = (id: string): string => `atelier.draft.${id}`;
const keepDelay = 300;
const waiting = new Map<string, Content>();
let timer: ReturnType<typeof setTimeout> | undefined;

export const browserWorld: SessionWorld = {
  save: (id, { about, draft }) => saveAgent(id, about, draft),
  load: getAgent,
  // Writing is synchronous, so keystrokes share one write.
  keep(id, content) {
    waiting.set(id, content);
    timer ??= setTimeout(writeNow, keepDelay);
  },
  forget(id) {
    waiting.delete(id);
    store((s) => s.removeItem(key(id)));
  },
  later(run, ms) {
    const later = setTimeout(run, ms);
    return () => clearTimeout(later);
  },
};

window.addEventListener('pagehide', writeNow);

export function keptDraft(id: string): Content | undefined {
  const text = store((s) => s.getItem(key(id)));
  if (text === undefined || text === null) return undefined;
  try {
    return JSON.parse(text) as Content;
  } catch {
    return undefined;
  }
}

function writeNow(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const [id, content] of waiting) store((s) => s.setItem(key(id), JSON.stringify(content)));
  waiting.clear();
}

/** Storage may be full or forbidden; edits then live in memory until they are saved. */
function store<T>(act: (storage: Storage) => T): T | undefined {
  try {
    return act(localStorage);
  } catch {
    return undefined;
  }
}
