// Stores which draft is open in this tab. Actions on its agent first save pending edits.
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

/** Saves the agent's draft if it is open in this tab. Throws if the draft cannot be saved. */
export async function saveOpenDraft(id: string): Promise<void> {
  if (open?.id !== id || (await open.session.flush())) return;
  throw new Error(say.theDraftIsNotSaved);
}
