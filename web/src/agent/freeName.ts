// Proposes names for copies.
import { useAgentListing } from '../api/listing';

/** Returns the name if no agent has it. Otherwise it appends the first number from 2 on that gives a free name. */
export function freeName(wanted: string, taken: readonly string[]): string {
  const used = new Set(taken);
  if (!used.has(wanted)) return wanted;
  for (let n = 2; ; n++) if (!used.has(`${wanted}-${n}`)) return `${wanted}-${n}`;
}

/** Proposes a free name. Returns undefined while it reads the agents with similar names. */
export function useFreeName(wanted: string): string | undefined {
  const listing = useAgentListing({ search: wanted });
  switch (listing.kind) {
    case 'waiting':
      return undefined;
    case 'failed':
      return wanted; // the server rejects a taken name
    case 'loaded':
      return freeName(
        wanted,
        listing.items.map(({ name }) => name),
      );
  }
}
