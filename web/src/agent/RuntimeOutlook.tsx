import { useEffect } from 'react';
import { RuntimeReason } from './RuntimeReason';
import { useOpenAgent } from './openAgent';
import { useDraftRuntime } from '../api/queries';
import css from './RuntimeReason.module.css';
import { hasChoice, type RuntimeOption } from './runtimes';

/**
 * Shows which runtime "auto" selects for a draft, or has selected for a version. If a runtime is missing on the server,
 * it says so.
 */
export function RuntimeOutlook({ missing }: { missing?: RuntimeOption | undefined }) {
  const { name, fields, version, choice, save } = useOpenAgent();
  const open = version === undefined && hasChoice(fields.language, fields.runtime);
  const settled = save.kind === 'saved';
  const { data, refetch } = useDraftRuntime(name, open && settled);
  useEffect(() => {
    if (open && settled) void refetch();
  }, [open, settled, fields, refetch]);
  const shown = version === undefined ? (open ? data?.choice : undefined) : choice;
  return (
    <>
      {/* The reason "unavailable" already names the missing runtime. */}
      {missing && shown?.reason !== 'unavailable' && (
        <p className={css.quiet}>
          {missing.runtime}: {missing.missing}
        </p>
      )}
      {shown && <RuntimeReason choice={shown} />}
    </>
  );
}
