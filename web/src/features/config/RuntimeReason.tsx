import { useEffect } from 'react';
import { useDraftRuntime } from '../../api/queries';
import type { RuntimeChoice } from '../../api/types';
import { runtimeReason as say } from '../../texts/config';
import { useOpenAgent } from '../agents/openAgent';
import css from './RuntimeReason.module.css';
import { hasChoice } from './runtimes';

/** Why auto means a runtime. */
export function RuntimeReason({ choice }: { choice: RuntimeChoice }) {
  return (
    <p className={css.reason} data-reason={choice.reason} role="note" aria-label={say.runtime}>
      {choice.message}
    </p>
  );
}

/** What auto means for the draft as it was saved, and for a version why it became its runtime. */
export function RuntimeOutlook() {
  const { name, fields, version, choice, save } = useOpenAgent();
  const open = version === undefined && hasChoice(fields.language, fields.runtime);
  const settled = save.kind === 'saved';
  const { data, refetch } = useDraftRuntime(name, open && settled);
  useEffect(() => {
    if (open && settled) void refetch();
  }, [open, settled, fields, refetch]);
  const shown = version === undefined ? (open ? data?.choice : undefined) : choice;
  return shown === undefined ? null : <RuntimeReason choice={shown} />;
}
