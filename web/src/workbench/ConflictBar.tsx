import { useMemo, useState } from 'react';
import { stringifyJson } from '../api/json';
import type { Agent, FileContent } from '../api/types';
import { conflictBar as say } from '../texts/agents';
import { ago } from '../texts/format';
import { notify } from '../state/notices';
import { Button } from '../ui/Button';
import { Choices } from '../ui/Choices';
import { Dialog } from '../ui/Dialog';
import comparison from '../diff/Comparison.module.css';
import { TextDiff } from '../diff/TextDiff';
import css from './ConflictBar.module.css';
import { useOpenAgent, useOpenFiles } from '../agent/openAgent';
import { mergedContent, mergeParts, type Part, type Side } from '../draft/merge';
import { contentOf, type Content, type DraftSession } from '../draft/session';

/** Asks which of two drafts to keep, after another person has saved. Both drafts are kept until the user chooses. */
export function ConflictBar() {
  const { save, session } = useOpenAgent();
  if (save.kind !== 'conflict' || !session) return null;
  return <ConflictDialog key={save.theirs.draft.revision} session={session} theirs={save.theirs} base={save.base} />;
}

interface Props {
  session: DraftSession;
  theirs: Agent;
  base: Content | undefined;
}

function ConflictDialog({ session, theirs, base }: Props) {
  const { about, fields } = useOpenAgent();
  const files = useOpenFiles();
  const mine: Content = useMemo(() => ({ about, draft: { ...fields, files, revision: 0 } }), [about, fields, files]);
  const [now] = useState(() => Date.now());
  const parts = useMemo(() => mergeParts(base, mine, contentOf(theirs)), [base, mine, theirs]);
  const [shown, setShown] = useState<string>();
  const [chosen, setChosen] = useState<Record<string, Side>>({});
  const part = parts.find((p) => keyOf(p) === shown) ?? parts[0];
  const side = (p: Part): Side => chosen[keyOf(p)] ?? 'merged';
  const open = parts.filter((p) => p.conflict && chosen[keyOf(p)] === undefined).length;
  const sides = { before: say.theirs, after: part && side(part) !== 'mine' ? say.merged : say.mine };

  const takeTheirs = (): void => {
    const undo = session.takeTheirs();
    notify('done', say.taken, { label: say.undo, run: undo });
  };
  return (
    <Dialog
      wide
      title={say.thisDraftWasChangedElsewhere}
      about={say.about(theirs.draft.savedBy?.name, ago(theirs.draft.savedAt ?? theirs.updatedAt, now))}
      foot={
        <>
          <p role="status" className={css.open}>
            {open > 0 && say.needsYou(open)}
          </p>
          <Button onClick={takeTheirs}>{say.takeTheirs}</Button>
          <Button onClick={() => session.keepMine()}>{say.keepMine}</Button>
          <Button
            look="primary"
            disabled={open > 0}
            onClick={() => session.takeMerged(mergedContent(mine, parts, side))}
          >
            {say.useMerge}
          </Button>
        </>
      }
    >
      <div className={comparison.parts} role="group" aria-label={say.differences}>
        {parts.map((p) => (
          <Button key={keyOf(p)} aria-pressed={p === part} onClick={() => setShown(keyOf(p))}>
            {p.key}
          </Button>
        ))}
      </div>
      {part && (
        <>
          <Choices<Side>
            label={say.keepWhich(part.key)}
            choices={[
              ...(part.conflict && part.kind !== 'file'
                ? []
                : [{ value: 'merged' as Side, label: part.conflict ? say.bothMarked : say.merged }]),
              { value: 'mine', label: say.mine },
              { value: 'theirs', label: say.theirs },
            ]}
            value={part.conflict ? chosen[keyOf(part)] : side(part)}
            onChange={(value) => setChosen({ ...chosen, [keyOf(part)]: value })}
          />
          <div className={comparison.legend}>
            <span>{sides.before}</span>
            <span>{sides.after}</span>
          </div>
          <TextDiff
            path={part.kind === 'file' ? part.key : 'settings.json'}
            before={textOf(part.theirs)}
            after={textOf(part.conflict && chosen[keyOf(part)] === undefined ? part.mine : part[side(part)])}
            sides={sides}
          />
        </>
      )}
    </Dialog>
  );
}

const keyOf = ({ kind, key }: Part): string => `${kind} ${key}`;

function textOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  return isBinary(value) ? value.base64 : stringifyJson(value, 2);
}

const isBinary = (value: unknown): value is Exclude<FileContent, string> =>
  typeof value === 'object' && value !== null && 'base64' in value;
