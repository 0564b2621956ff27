// Drafts that were left with edits on their way to the server: who comes back first would read what they were before.
const leaving = new Map<string, Promise<unknown>>();

/** The draft of an agent was left, and is saved when the work is done. */
export function draftLeft(names: string[], work: Promise<unknown>): void {
  for (const name of names) leaving.set(name, work);
  const gone = (): void => {
    for (const name of names) if (leaving.get(name) === work) leaving.delete(name);
  };
  work.then(gone, gone);
}

/** Resolves when nothing of the agent, by its name or ID, is on its way any more. */
export async function draftArrived(nameOrId: string): Promise<void> {
  await Promise.allSettled([leaving.get(nameOrId)]);
}
