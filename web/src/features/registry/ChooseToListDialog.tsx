import { useEffect, useState } from 'react';
import { useAgentListing } from '../../api/listing';
import { keys, queryClient, refreshFacts } from '../../api/queries';
import { listInRegistry } from '../../api/verbs';
import { notify } from '../../state/notices';
import { chooseToListDialog as say, listDialog } from '../../texts/registry';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { useTask } from '../../ui/useTask';

/** Lets the user select a published agent of the workspace, and lists it in the public registry. */
export function ChooseToListDialog({ onClose }: { onClose: () => void }) {
  const listing = useAgentListing({ state: 'published' });
  const [chosen, setChosen] = useState('');
  const task = useTask();
  // A page contains 50 agents. All pages are loaded, so that the user can select any agent.
  const more = listing.kind === 'loaded' && listing.fault === undefined && !listing.reading ? listing.more : undefined;
  useEffect(() => more?.(), [more]);
  const agents = listing.kind === 'loaded' ? listing.items.filter(({ listed }) => !listed) : [];
  const name = chosen === '' ? (agents[0]?.name ?? '') : chosen;
  const submit = (): void =>
    task.run(async () => {
      await listInRegistry(name, true);
      refreshFacts(name);
      await queryClient.invalidateQueries({ queryKey: keys.registry });
      notify('done', listDialog.isListed(name));
      onClose();
    });
  return (
    <FormDialog
      title={say.title}
      about={listDialog.listAbout}
      verb={say.listIt}
      ready={name !== ''}
      busy={task.busy}
      fault={
        listing.kind === 'failed'
          ? listing.message
          : ((listing.kind === 'loaded' ? listing.fault : undefined) ?? task.fault)
      }
      onSubmit={submit}
      onClose={onClose}
    >
      {(listing.kind === 'waiting' || more !== undefined || (listing.kind === 'loaded' && listing.reading)) && (
        <p>{say.loading}</p>
      )}
      {listing.kind === 'loaded' && listing.more === undefined && agents.length === 0 && <p>{say.none}</p>}
      {agents.length > 0 && (
        <Field label={say.agent} hint={say.hint}>
          {(control) => (
            <select {...control} value={name} onChange={(e) => setChosen(e.target.value)}>
              {agents.map((agent) => (
                <option key={agent.id} value={agent.name}>
                  {agent.title === '' ? agent.name : `${agent.name} · ${agent.title}`}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </FormDialog>
  );
}
