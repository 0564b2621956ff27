import { useState, type SyntheticEvent } from 'react';
import { useLocation } from 'wouter';
import { explain } from '../../api/http';
import { refreshAgents } from '../../api/queries';
import { copyFromRegistry } from '../../api/verbs';
import { closeDialog } from '../../app/dialogs';
import { agentUrl } from '../../app/urlState';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';

/** Copies a listed agent into the workspace, under a name that is free. */
export function CopyDialog({ id, name, version }: { id: string; name: string; version: string }) {
  const [, navigate] = useLocation();
  const [chosen, setChosen] = useState(name);
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);

  const submit = async (e: SyntheticEvent): Promise<void> => {
    e.preventDefault();
    setBusy(true);
    try {
      const agent = await copyFromRegistry(id, chosen.trim());
      void refreshAgents();
      closeDialog();
      navigate(agentUrl(agent.name));
    } catch (error) {
      setFault(explain(error));
      setBusy(false);
    }
  };

  return (
    <Dialog
      title={`Copy ${name} ${version}`}
      about="You get an agent whose draft is this version. What its author publishes later does not change it."
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button look="primary" type="submit" form="copy" disabled={busy}>
            Copy
          </Button>
        </>
      }
    >
      <form id="copy" onSubmit={(e) => void submit(e)}>
        <Field label="Name of the copy" mono error={fault}>
          {(control) => (
            <input {...control} value={chosen} autoComplete="off" onChange={(e) => setChosen(e.target.value)} />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
