import { useState } from 'react';
import { stringifyJson } from '../../api/json';
import type { Agent } from '../../api/types';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { TextDiff } from '../compare/TextDiff';
import css from './ConflictBar.module.css';
import { useOpenAgent } from './openAgent';
import { contentOf, type Content, type DraftSession } from './session';

/** Asks which draft to keep when someone else saved in the meantime. Nothing is lost before someone chooses. */
export function ConflictBar() {
  const { save, session, about, fields } = useOpenAgent();
  if (save.kind !== 'conflict' || !session) return null;
  return (
    <ConflictDialog
      key={save.theirs.draft.revision}
      session={session}
      theirs={save.theirs}
      mine={{ about, draft: { ...fields, revision: 0 } }}
    />
  );
}

const sides = { before: 'Theirs', after: 'Mine' };

interface Difference {
  label: string;
  path: string;
  theirs: string;
  mine: string;
}

function ConflictDialog({ session, theirs, mine }: { session: DraftSession; theirs: Agent; mine: Content }) {
  const [now] = useState(() => Date.now());
  const differences = compare(contentOf(theirs), mine);
  const [shown, setShown] = useState(differences[0]?.label);
  const difference = differences.find((d) => d.label === shown) ?? differences[0];
  const minutes = Math.round((now - Date.parse(theirs.updatedAt)) / 60_000);
  return (
    <Dialog
      wide
      title="This draft was changed elsewhere"
      about={`It was saved ${minutes > 0 ? `${minutes} min` : 'moments'} ago in another tab or by someone else. Choose which one to keep.`}
      foot={
        <>
          <Button onClick={() => session.takeTheirs()}>Take theirs</Button>
          <Button look="primary" onClick={() => session.keepMine()}>
            Keep mine
          </Button>
        </>
      }
    >
      <div className={css.files} role="group" aria-label="What differs">
        {differences.map((d) => (
          <Button key={d.label} aria-pressed={d === difference} onClick={() => setShown(d.label)}>
            {d.label}
          </Button>
        ))}
      </div>
      <div className={css.legend}>
        <span>Theirs</span>
        <span>Mine</span>
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
  const settings = { label: 'Settings', path: 'settings.json', theirs: settingsOf(theirs), mine: settingsOf(mine) };
  return [...files, settings].filter((d) => d.theirs !== d.mine);
}

function textOf({ draft }: Content, path: string): string {
  const content = draft.files[path];
  return typeof content === 'string' ? content : content === undefined ? '' : content.base64;
}

function settingsOf({ about, draft }: Content): string {
  const { files: _files, revision: _revision, ...settings } = draft;
  const { title, description, tags } = about;
  return stringifyJson({ title, description, tags, ...settings }, 2);
}
