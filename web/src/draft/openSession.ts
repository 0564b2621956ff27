// The draft that is open in this tab, for work on its agent that must not overtake an edit.
import { settle as say } from '../texts/agents';
import type { DraftSession } from './session';

let open: { id: string; session: DraftSession } | undefined;

export function draftOpened(id: string, session: DraftSession): () => void {
  const mine = { id, session };
  open = mine;
  return () => {
    if (open === mine) open = undefined;
  };
}

/** Saves the agent's draft if it is open here; fails when it cannot be saved. */
export async function settleDraft(id: string): Promise<void> {
  if (open?.id !== id || (await open.session.flush())) return;
  throw new Error(say.theDraftIsNotSaved);
}
