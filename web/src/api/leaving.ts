// Tracks drafts that were closed while a save was in progress. A page that reads such a draft too early would show the
// old state.
const leaving = new Map<string, Promise<unknown>>();

/** Registers the last save of a draft that is being closed. */
export function draftLeft(names: string[], work: Promise<unknown>): void {
  for (const name of names) leaving.set(name, work);
  const gone = (): void => {
    for (const name of names) if (leaving.get(name) === work) leaving.delete(name);
  };
  work.then(gone, gone);
}

/** Resolves when no save of the agent with this name or ID is in progress. */
export async function draftArrived(nameOrId: string): Promise<void> {
  await Promise.allSettled([leaving.get(nameOrId)]);
}
