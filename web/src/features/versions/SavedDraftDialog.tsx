import { useMemo, useState, type SyntheticEvent } from 'react';
import { stringifyJson } from '../../api/json';
import { keys, queryClient, refreshFacts, useDraftSave, useDraftSaves } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Agent, Draft } from '../../api/types';
import { labelDraftSave, restoreDraftSave } from '../../api/verbs';
import { closeDialog, showDialog, useCloseOwn, type OpenDialog } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { common } from '../../texts/common';
import { ago } from '../../texts/format';
import { savedDraftDialog as say } from '../../texts/versions';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { NotLoaded } from '../../ui/NotLoaded';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import { Waiting } from '../../ui/Waiting';
import { useOpenAgent } from '../../agent/openAgent';
import { TextDiff } from '../../diff/TextDiff';
import { saveOpenDraft } from '../../draft/openSession';
import { mergeParts, type Part } from '../../draft/merge';
import { contentOf } from '../../draft/session';
import comparison from '../../diff/Comparison.module.css';
import css from './SavedDraftDialog.module.css';

/** Compares a save of the draft with the current draft. The user can label the save, or make it the draft again. */
export function SavedDraftDialog({ revision, back }: { revision: number; back?: OpenDialog }) {
  const { name } = useOpenAgent();
  const found = useDraftSave(name, revision);
  const task = useTask();
  const closeOwn = useCloseOwn();
  const writes = useRights().may('write');
  const [now] = useState(() => Date.now());
  const { save, agent } = found.data ?? {};
  const parts = useMemo(() => (save && agent ? differences(agent, save) : []), [save, agent]);

  const restore = ({ id, draft }: Agent): void =>
    task.run(async () => {
      await saveOpenDraft(id);
      const restored = await restoreDraftSave(id, draft.revision, revision);
      queryClient.setQueryData(keys.agent(name), restored);
      refreshFacts(name);
      closeOwn();
      notify('done', say.restored(revision, draft.revision));
    });
  return (
    <Dialog
      wide
      title={say.title(revision)}
      about={save?.savedAt === undefined ? undefined : say.about(ago(save.savedAt, now), save.savedBy?.name)}
      onClose={closeDialog}
      foot={
        <>
          {back && (
            <Button look="quiet" onClick={() => showDialog(back)}>
              {say.back}
            </Button>
          )}
          <Button onClick={closeDialog}>{common.cancel}</Button>
          {writes && (
            <Button
              look="primary"
              disabled={task.busy || !agent || parts.length === 0}
              onClick={() => agent && restore(agent)}
            >
              {say.restore}
            </Button>
          )}
        </>
      }
    >
      {found.isPending && <Waiting shape="text" what={say.theSave} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      <Fault message={task.fault} />
      {found.data && parts.length === 0 && <p role="status">{say.same}</p>}
      {parts.length > 0 && <Differences parts={parts} revision={revision} />}
      {writes && found.data && <LabelForm name={name} revision={revision} />}
    </Dialog>
  );
}

/** Lists the parts of the draft that a restore would change. A save contains no title, description and tags. */
function differences(agent: Agent, save: Draft): Part[] {
  const draft = contentOf(agent);
  return mergeParts(draft, draft, { ...draft, draft: save });
}

function Differences({ parts, revision }: { parts: Part[]; revision: number }) {
  const [chosen, setChosen] = useState<string>();
  const sides = useMemo(() => ({ before: say.draft, after: say.save(revision) }), [revision]);
  const part = parts.find((p) => keyOf(p) === chosen) ?? parts[0];
  if (!part) return null;
  return (
    <>
      <div className={comparison.parts} role="group" aria-label={say.differences}>
        {parts.map((p) => (
          <Button key={keyOf(p)} aria-pressed={p === part} onClick={() => setChosen(keyOf(p))}>
            {p.key}
          </Button>
        ))}
      </div>
      <p>{say.direction}</p>
      <div className={comparison.legend}>
        <span>{sides.before}</span>
        <span>{sides.after}</span>
      </div>
      <TextDiff
        path={part.kind === 'file' ? part.key : 'settings.json'}
        before={textOf(part.mine)}
        after={textOf(part.theirs)}
        sides={sides}
      />
    </>
  );
}

function LabelForm({ name, revision }: { name: string; revision: number }) {
  const stored = useDraftSaves(name).data?.find((save) => save.revision === revision)?.label ?? '';
  const [typed, setTyped] = useState<string>();
  const task = useTask();
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    const label = (typed ?? stored).trim();
    task.run(async () => {
      await labelDraftSave(name, revision, label);
      await queryClient.invalidateQueries({ queryKey: keys.draftSaves(name), exact: true });
      notify('done', label === '' ? say.unlabelled(revision) : say.labelled(revision));
    });
  };
  return (
    <form className={css.label} onSubmit={submit}>
      <TextField
        label={say.label}
        hint={say.labelHint}
        error={task.fault}
        maxLength={200}
        value={typed ?? stored}
        onChange={setTyped}
      />
      <Button type="submit" disabled={task.busy || typed === undefined || typed.trim() === stored}>
        {say.storeLabel}
      </Button>
    </form>
  );
}

const keyOf = ({ kind, key }: Part): string => `${kind} ${key}`;

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : stringifyJson(value, 2);
}
