// Proposes names for copies.
import { useAgentListing } from '../api/listing';

/** Returns the name, or the name with the first number from 2 on that no agent has. */
export function freeName(wanted: string, taken: readonly string[]): string {
  const used = new Set(taken);
  if (!used.has(wanted)) return wanted;
  for (let n = 2; ; n++) if (!used.has(`${wanted}-${n}`)) return `${wanted}-${n}`;
}

/** Proposes a free name; undefined while the agents with similar names are read. */
export function useFreeName(wanted: string): string | undefined {
  const listing = useAgentListing({ search: wanted });
  switch (listing.kind) {
    case 'waiting':
      return undefined;
    case 'failed':
      return wanted; // the server refuses a taken name
    case 'loaded':
      return freeName(
        wanted,
        listing.items.map(({ name }) => name),
      );
  }
}
