import { useEffect } from 'react';
import { useDraftRuntime } from '../../api/queries';
import type { RuntimeChoice } from '../../api/types';
import { runtimeReason as say } from '../../texts/config';
import { useOpenAgent } from '../agents/openAgent';
import panel from './ConfigPanel.module.css';
import css from './RuntimeReason.module.css';
import { hasChoice, type RuntimeOption } from './runtimes';

/** Why auto means a runtime. */
export function RuntimeReason({ choice }: { choice: RuntimeChoice }) {
  return (
    <p className={css.reason} data-reason={choice.reason} role="note" aria-label={say.runtime}>
      {choice.message}
    </p>
  );
}

/** What auto means for the draft as it was saved, and for a version why it became its runtime; and what is missing here. */
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
      {/* A choice that had to do without it says why itself. */}
      {missing && shown?.reason !== 'unavailable' && (
        <p className={panel.quiet}>
          {missing.runtime}: {missing.missing}
        </p>
      )}
      {shown && <RuntimeReason choice={shown} />}
    </>
  );
}
