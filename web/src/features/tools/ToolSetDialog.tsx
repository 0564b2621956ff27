import { useDeferredValue, useState } from 'react';
import { X } from 'lucide-react';
import { useLocation } from 'wouter';
import { ApiError } from '../../api/http';
import { serverUrl } from '../../api/base';
import { useAgentListing } from '../../api/listing';
import { refreshToolSets, useVersions } from '../../api/queries';
import type { ToolSet } from '../../api/types';
import { putToolSet } from '../../api/verbs';
import { notify } from '../../state/notices';
import { toolSetDialog as say, toolSets } from '../../texts/toolSets';
import { Button, IconButton } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { FieldFaults, useTask } from '../../ui/useTask';
import css from './ToolSets.module.css';

/** A version that the tool set will pin. The server resolves `latest` and ranges such as ^1. */
interface Wanted {
  agent: string;
  version: string;
}

interface Props {
  /** The tool set to edit. Without it, the dialog creates a new one. */
  set?: ToolSet;
  /** The names of existing tool sets, which a new one must not replace. */
  taken: readonly string[];
  onClose: () => void;
}

const nameForm = /^[a-z][a-z0-9_-]{0,62}$/;

/** Creates or edits a tool set. */
export function ToolSetDialog({ set, taken, onClose }: Props) {
  const [name, setName] = useState(set?.name ?? '');
  const [title, setTitle] = useState(set?.title ?? '');
  const [description, setDescription] = useState(set?.description ?? '');
  const [wanted, setWanted] = useState<readonly Wanted[]>(
    (set?.tools ?? [])
      .filter((tool) => tool.missing !== true)
      .map((tool) => ({ agent: tool.name, version: tool.version })),
  );
  const task = useTask();
  const [, navigate] = useLocation();
  const submit = (): void => {
    if (name === '') return task.fail(say.enterName, '/name');
    if (!nameForm.test(name)) return task.fail(say.nameForm, '/name');
    if (taken.includes(name)) return task.fail(say.taken, '/name');
    if (wanted.length === 0) return task.fail(say.noTools, '/references');
    task.run(async () => {
      const references = wanted.map(({ agent, version }) => `${agent}@${version}`);
      await putToolSet(name, { title, description, references }).catch((error: unknown) => {
        throw inWords(error, wanted);
      });
      await refreshToolSets();
      notify('done', toolSets.saved(name));
      onClose();
      if (set === undefined) navigate(`/tool-sets/${encodeURIComponent(name)}`);
    });
  };
  return (
    <FormDialog
      title={set === undefined ? say.newSet : say.editSet(set.name)}
      about={say.about}
      verb={say.save}
      busy={task.busy}
      fault={task.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      {set === undefined && (
        <TextField
          label={say.name}
          hint={say.nameHint(`${serverUrl()}/mcp/sets/${name === '' ? 'NAME' : name}`)}
          error={task.at('/name')}
          mono
          autoFocus
          maxLength={63}
          value={name}
          onChange={setName}
        />
      )}
      <TextField label={say.title} error={task.at('/title')} maxLength={200} value={title} onChange={setTitle} />
      <TextField
        label={say.description}
        error={task.at('/description')}
        maxLength={1000}
        value={description}
        onChange={setDescription}
      />
      <AddAgent
        chosen={wanted}
        error={task.at('/references')}
        onAdd={(agent) => setWanted([...wanted, { agent, version: 'latest' }])}
      />
      {wanted.length > 0 && (
        <ul className={css.tools} aria-label={say.tools}>
          {wanted.map((one) => (
            <li key={one.agent}>
              <strong>{one.agent}</strong>
              <VersionChoice
                {...one}
                onChange={(version) => setWanted(wanted.map((w) => (w.agent === one.agent ? { ...w, version } : w)))}
              />
              <IconButton
                small
                label={say.remove(one.agent)}
                onClick={() => setWanted(wanted.filter((w) => w.agent !== one.agent))}
              >
                <X size={16} aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

/** Returns the server's errors about references, with the names of their agents. */
function inWords(error: unknown, wanted: readonly Wanted[]): unknown {
  const fields = error instanceof ApiError ? error.fields : [];
  const found = fields.flatMap(({ pointer, message }) => {
    const index = /^\/references\/(\d+)$/.exec(pointer)?.[1];
    const agent = index === undefined ? undefined : wanted[Number(index)]?.agent;
    return agent === undefined ? [] : [say.atTool(agent, message)];
  });
  return found.length === 0 ? error : new FieldFaults(new Map([['/references', found.join(' ')]]));
}

interface AddProps {
  chosen: readonly Wanted[];
  error: string | undefined;
  onAdd: (agent: string) => void;
}

/** Searches the published agents that are not in the set yet. */
function AddAgent({ chosen, error, onAdd }: AddProps) {
  const [typed, setTyped] = useState('');
  const listing = useAgentListing({ search: useDeferredValue(typed), state: 'published' });
  const agents = listing.kind === 'loaded' ? listing.items.map((agent) => agent.name) : [];
  const offered = agents.filter((agent) => !chosen.some((one) => one.agent === agent));
  const add = (): void => {
    if (!offered.includes(typed)) return;
    onAdd(typed);
    setTyped('');
  };
  return (
    <Field label={say.agentToAdd} error={error}>
      {(control) => (
        <div className={css.add}>
          <input
            {...control}
            list={`${control.id}-agents`}
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(e) => setTyped(e.target.value)}
            onKeyDown={(e) => {
              if (e.key !== 'Enter' || typed === '') return;
              e.preventDefault();
              add();
            }}
          />
          <datalist id={`${control.id}-agents`}>
            {offered.map((agent) => (
              <option key={agent} value={agent} />
            ))}
          </datalist>
          <Button disabled={!offered.includes(typed)} onClick={add}>
            {say.add}
          </Button>
        </div>
      )}
    </Field>
  );
}

function VersionChoice({ agent, version, onChange }: Wanted & { onChange: (version: string) => void }) {
  const found = useVersions(agent);
  const versions = (found.data ?? []).map((one) => one.version);
  return (
    <Field label={say.version(agent)} hideLabel>
      {(control) => (
        <select {...control} value={version} onChange={(e) => onChange(e.target.value)}>
          <option value="latest">{toolSets.current}</option>
          {[...new Set(version === 'latest' ? versions : [version, ...versions])].map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
