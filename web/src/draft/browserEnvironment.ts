// Connects a draft session to the browser. The API stores saves, and localStorage stores edits that must survive a
// closed tab.
import { local, ofTab, withStorage } from '../api/storage';
import { getAgent, getDraftSave, saveAgent } from '../api/verbs';
import { notify } from '../state/notices';
import { useDraftSession as say } from '../texts/agents';
import { removeEdits, storeEdits, readEdits } from './unsaved';
import type { Content, SessionEnvironment } from './session';

const keepDelay = 300;
const waiting = new Map<string, Content>();
let timer: ReturnType<typeof setTimeout> | undefined;

export const browserEnvironment: SessionEnvironment = {
  save: (id, { about, draft }) => saveAgent(id, about, draft),
  load: getAgent,
  loadSave: getDraftSave,
  replaced: ({ draft: { savedBy, savedAt } }) => notify('done', say.changedBy(savedBy?.name, savedAt, Date.now())),
  // Writing to localStorage is synchronous, so one write contains several keystrokes.
  keep(id, content) {
    waiting.set(id, content);
    timer ??= setTimeout(writeNow, keepDelay);
  },
  forget(id) {
    waiting.delete(id);
    withStorage(local, (s) => removeEdits(s, id, tab()));
  },
  later(run, ms) {
    const later = setTimeout(run, ms);
    return () => clearTimeout(later);
  },
  tell: (id, revision) => channel().postMessage({ id, revision } satisfies Saved),
  listen(id, heard) {
    const onMessage = ({ data }: MessageEvent<Saved>): void => {
      if (data.id === id) heard(data.revision);
    };
    channel().addEventListener('message', onMessage);
    return () => channel().removeEventListener('message', onMessage);
  },
};

interface Saved {
  id: string;
  revision: number;
}

let opened: BroadcastChannel | undefined;
/** The channel between the tabs of this browser. */
const channel = (): BroadcastChannel => (opened ??= new BroadcastChannel('atelier.drafts'));

window.addEventListener('pagehide', writeNow);

/** Returns the stored edits of this draft that were not saved on the server. */
export const storedDraft = (id: string): Content | undefined => withStorage(local, (s) => readEdits(s, id, tab()));

function writeNow(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const [id, content] of waiting) withStorage(local, (s) => storeEdits(s, id, tab(), content, Date.now()));
  waiting.clear();
}

/** Returns the ID of this tab. The ID survives a reload. */
function tab(): string {
  const name = withStorage(ofTab, (s) => {
    const known = s.getItem(tabKey) ?? String(crypto.getRandomValues(new Uint32Array(1))[0]);
    s.setItem(tabKey, known);
    return known;
  });
  return name ?? '';
}

const tabKey = 'atelier.tab';
