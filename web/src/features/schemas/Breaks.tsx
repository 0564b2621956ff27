import { useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { keys } from '../../api/queries';
import { diff } from '../../api/verbs';
import { showDialog } from '../../state/dialogs';
import { breaks as say } from '../../texts/schemas';
import { Button } from '../../ui/Button';
import { useOpenAgent } from '../../agent/openAgent';
import css from './SchemaView.module.css';

/** Shows the server's warnings about breaking changes in the saved schema. */
export function Breaks({ which }: { which: 'input' | 'output' }) {
  const { name, latestVersion, save, session } = useOpenAgent();
  const revision = session?.get().draft.revision ?? 0;
  const found = useQuery({
    queryKey: [...keys.diff(name, latestVersion, 'draft'), revision],
    queryFn: () =>
      session
        ? session.withRevision((seen) => diff(name, latestVersion, 'draft', seen))
        : diff(name, latestVersion, 'draft'),
    enabled: save.kind === 'saved',
    placeholderData: (before) => before,
  });
  const reasons = (found.data?.advice.reasons ?? []).filter(
    ({ bump, pointer }) =>
      bump === 'major' && (pointer === `/${which}Schema` || pointer.startsWith(`/${which}Schema/`)),
  );
  const [first] = reasons;
  return (
    <p role="status" aria-label={say.breakingChanges} className={css.breaks}>
      {first && (
        <>
          <TriangleAlert size={14} aria-hidden />
          <span>{say.major(first.message.replaceAll('`', ''), reasons.length - 1)}</span>
          <Button look="link" onClick={() => showDialog({ kind: 'compare', from: latestVersion, to: 'draft' })}>
            {say.why}
          </Button>
        </>
      )}
    </p>
  );
}
