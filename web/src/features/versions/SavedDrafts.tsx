import { useState } from 'react';
import { useDraftSaves } from '../../api/queries';
import type { Agent, DraftSave } from '../../api/types';
import { showDialog, type OpenDialog } from '../../state/dialogs';
import { ago } from '../../texts/format';
import { savedDrafts as say } from '../../texts/versions';
import { Button } from '../../ui/Button';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import sheet from '../../ui/Sheet.module.css';
import css from '../../agent/Versions.module.css';

/** Shows the section of the versions page that contains the saves of the draft. */
export function SavedDrafts({ agent: { name } }: { agent: Agent }) {
  return (
    <section className={sheet.section} aria-labelledby="saved-drafts">
      <h2 id="saved-drafts">{say.title}</h2>
      <p className={sheet.quiet}>{say.about}</p>
      <SaveTable name={name} />
    </section>
  );
}

/** Lists the saves of the draft, newest first. Each opens a dialog in which the user compares and restores it. */
export function SaveTable({ name, back }: { name: string; back?: OpenDialog }) {
  const saves = useDraftSaves(name);
  const [now] = useState(() => Date.now());
  const show = (revision: number): void => showDialog({ kind: 'savedDraft', revision, ...(back && { back }) });
  return (
    <>
      <NotLoaded found={saves} why={say.notLoaded} />
      {saves.isPending && <Waiting shape="rows" what={say.theList} retry />}
      {saves.data && (
        <DataTable
          label={say.listOf(name)}
          items={saves.data}
          columns={columnsOf(saves.data[0]?.revision, now, show)}
          rowKey={({ revision }) => String(revision)}
          words={(save) => [save.revision, save.label ?? '', save.savedBy.name, changesOf(save)].join(' ')}
        />
      )}
    </>
  );
}

const columnsOf = (
  current: number | undefined,
  now: number,
  show: (revision: number) => void,
): TableColumn<DraftSave>[] => [
  {
    key: 'revision',
    title: say.revision,
    by: ({ revision }) => -revision,
    cell: ({ revision, label }) => (
      <div className={css.number}>
        <Button look="link" aria-label={say.show(revision)} onClick={() => show(revision)}>
          {say.number(revision)}
        </Button>
        {revision === current && <span className={css.badge}>{say.current}</span>}
        {label !== undefined && <span className={css.badge}>{label}</span>}
      </div>
    ),
  },
  { key: 'changed', title: say.changed, cell: (save) => <span className={css.changes}>{changesOf(save)}</span> },
  {
    key: 'saved',
    title: say.saved,
    by: ({ savedAt }) => -Date.parse(savedAt),
    cell: ({ savedAt, savedBy }) => (
      <>
        {ago(savedAt, now)}
        <small>{say.by(savedBy.name)}</small>
      </>
    ),
  },
  {
    key: 'acts',
    title: say.actions,
    acts: true,
    cell: ({ revision }) =>
      revision !== current && (
        <Button aria-label={say.compareNamed(revision)} onClick={() => show(revision)}>
          {say.compare}
        </Button>
      ),
  },
];

const shownFiles = 4;

/** Lists the files of a save that differ from the previous save. It also says whether the settings differ. */
function changesOf({ files, settings }: DraftSave): string {
  const all = settings ? [...files, say.settings] : files;
  if (all.length === 0) return say.nothing;
  const shown = all.slice(0, shownFiles).join(', ');
  return all.length > shownFiles ? `${shown} ${say.more(all.length - shownFiles)}` : shown;
}
