import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keys, refreshPackages } from '../../api/queries';
import { collectPackages } from '../../api/verbs';
import { notify } from '../../state/notices';
import { cleanUpDialog as say } from '../../texts/packages';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { NotLoaded } from '../../ui/NotLoaded';
import { useTask } from '../../ui/useTask';
import { Waiting } from '../../ui/Waiting';
import css from './PackagesPage.module.css';

/** Lists the packages that were not used for some time, and removes them. */
export function CleanUpDialog({ onClose }: { onClose: () => void }) {
  const [hours, setHours] = useState(720);
  const task = useTask();
  const found = useQuery({
    queryKey: keys.unusedPackages(hours),
    gcTime: 0,
    queryFn: () => collectPackages(hours, true),
  });
  const items = found.data?.items ?? [];
  const submit = (): void =>
    task.run(async () => {
      const { bytes } = await collectPackages(hours, false);
      await refreshPackages();
      notify('done', say.done(bytes));
      task.leadOn(onClose);
    });
  return (
    <FormDialog
      title={say.title}
      about={say.about}
      verb={say.verb}
      danger
      ready={items.length > 0}
      busy={task.busy}
      fault={task.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={say.unused}>
        {(control) => (
          <select {...control} value={hours} onChange={(e) => setHours(Number(e.target.value))}>
            {Object.entries(say.spans).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      {found.isPending && <Waiting shape="text" what={say.candidates} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {found.isSuccess && items.length === 0 && <p role="status">{say.nothing}</p>}
      {items.length > 0 && (
        <>
          <ul className={css.items} aria-label={say.items} tabIndex={0}>
            {items.map(({ kind, digest, packages, bytes }) => (
              <li key={digest}>
                <span>{kind === 'installation' ? say.installation(packages) : say.archive(digest)}</span>
                <small>{say.size(bytes)}</small>
              </li>
            ))}
          </ul>
          <p role="status">{say.wouldFree(found.data?.bytes ?? 0)}</p>
        </>
      )}
    </FormDialog>
  );
}
