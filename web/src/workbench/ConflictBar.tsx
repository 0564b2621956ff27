import { useState } from 'react';
import { stringifyJson } from '../api/json';
import type { Agent } from '../api/types';
import { conflictBar as say } from '../texts/agents';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { TextDiff } from '../diff/TextDiff';
import css from './ConflictBar.module.css';
import { useOpenAgent, useOpenFiles } from '../agent/openAgent';
import { contentOf, type Content, type DraftSession } from '../draft/session';

/** Asks which draft to keep after another person saved. Both drafts are kept until the user chooses. */
export function ConflictBar() {
  const { save, session } = useOpenAgent();
  if (save.kind !== 'conflict' || !session) return null;
  return <ConflictDialog key={save.theirs.draft.revision} session={session} theirs={save.theirs} />;
}

const sides = { before: say.theirs, after: say.mine };

interface Difference {
  label: string;
  path: string;
  theirs: string;
  mine: string;
}

function ConflictDialog({ session, theirs }: { session: DraftSession; theirs: Agent }) {
  const { about, fields } = useOpenAgent();
  const mine: Content = { about, draft: { ...fields, files: useOpenFiles(), revision: 0 } };
  const [now] = useState(() => Date.now());
  const differences = compare(contentOf(theirs), mine);
  const [shown, setShown] = useState(differences[0]?.label);
  const difference = differences.find((d) => d.label === shown) ?? differences[0];
  const minutes = Math.round((now - Date.parse(theirs.updatedAt)) / 60_000);
  return (
    <Dialog
      wide
      title={say.thisDraftWasChangedElsewhere}
      about={say.about(minutes)}
      foot={
        <>
          <Button onClick={() => session.takeTheirs()}>{say.takeTheirs}</Button>
          <Button look="primary" onClick={() => session.keepMine()}>
            {say.keepMine}
          </Button>
        </>
      }
    >
      <div className={css.files} role="group" aria-label={say.differences}>
        {differences.map((d) => (
          <Button key={d.label} aria-pressed={d === difference} onClick={() => setShown(d.label)}>
            {d.label}
          </Button>
        ))}
      </div>
      <div className={css.legend}>
        <span>{say.theirs}</span>
        <span>{say.mine}</span>
      </div>
      {difference && (
        <TextDiff path={difference.path} before={difference.theirs} after={difference.mine} sides={sides} />
      )}
    </Dialog>
  );
}

function compare(theirs: Content, mine: Content): Difference[] {
  const paths = [...new Set([...Object.keys(theirs.draft.files), ...Object.keys(mine.draft.files)])].sort();
  const files = paths.map((path) => ({
    label: path,
    path,
    theirs: textOf(theirs, path),
    mine: textOf(mine, path),
  }));
  const settings = { label: say.settings, path: 'settings.json', theirs: settingsOf(theirs), mine: settingsOf(mine) };
  return [...files, settings].filter((d) => d.theirs !== d.mine);
}

function textOf({ draft }: Content, path: string): string {
  const content = draft.files[path];
  return typeof content === 'string' ? content : content === undefined ? '' : content.base64;
}

function settingsOf({ about, draft }: Content): string {
  const { files: _files, revision: _revision, savedAt: _at, savedBy: _by, ...settings } = draft;
  const { title, description, tags } = about;
  return stringifyJson({ title, description, tags, ...settings }, 2);
}
