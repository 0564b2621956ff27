import type { ResolvedPackages } from '../api/types';
import { packageChanges as say } from '../texts/compare';

type Change = ResolvedPackages['changes'][number];

/** Shows the names and the numbers of the packages that are added, removed and changed. */
export function PackageChanges({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return null;
  const added = changes.filter((c) => c.before === undefined).length;
  const removed = changes.filter((c) => c.after === undefined).length;
  return (
    <section aria-label={say.title}>
      <p>{say.counted(added, removed, changes.length - added - removed)}</p>
      <ul>
        {changes.map((c) => (
          <li key={`${c.name} ${c.before ?? ''} ${c.after ?? ''}`}>{say.changed(c)}</li>
        ))}
      </ul>
    </section>
  );
}
