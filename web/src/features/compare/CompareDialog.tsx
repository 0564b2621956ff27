import { useState } from 'react';
import { useDiff, useVersions } from '../../api/queries';
import { diff } from '../../api/verbs';
import { closeDialog } from '../../state/dialogs';
import { approvalsPage } from '../../texts/approvals';
import { common } from '../../texts/common';
import { compareDialog as said } from '../../texts/compare';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { useOpenAgent } from '../../agent/openAgent';
import { isStale } from '../../draft/session';
import { Changes } from '../../diff/Changes';
import css from './CompareDialog.module.css';

/** Compares two versions, or a version with the saved draft. */
export function CompareDialog({ from: first, to: second }: { from: string; to: string }) {
  const { name, session } = useOpenAgent();
  const [{ from, to }, setSides] = useState({ from: first, to: second });
  const versions = useVersions(name);
  const found = useDiff(name, from, to, async () => {
    if (!session || (from !== 'draft' && to !== 'draft')) return diff(name, from, to);
    try {
      return await session.withRevision((revision) => diff(name, from, to, revision));
    } catch (error) {
      if (isStale(error)) closeDialog();
      throw error;
    }
  });
  const choices = [...new Set([from, to, 'draft', ...(versions.data ?? []).map((v) => v.version)])];
  return (
    <Dialog
      wide
      title={said.compare(name)}
      onClose={closeDialog}
      foot={<Button onClick={closeDialog}>{common.done}</Button>}
    >
      <div className={css.sides}>
        <Side label={said.from} value={from} choices={choices} onChange={(v) => setSides({ from: v, to })} />
        <Side label={said.to} value={to} choices={choices} onChange={(v) => setSides({ from, to: v })} />
        <Button onClick={() => setSides({ from: to, to: from })}>{said.swap}</Button>
      </div>
      {found.isPending && (
        <div className={css.waiting}>
          <Waiting shape="text" what={said.theComparison} retry />
        </div>
      )}
      <NotLoaded found={found} why={said.notCompared} />
      {found.data && (
        <>
          <p className={css.advice} role="status" data-bump={found.data.advice.bump}>
            {advice(found.data.advice)}
          </p>
          {found.data.capabilityChanges.length > 0 && (
            <section aria-label={approvalsPage.changes}>
              <h3>{approvalsPage.changes}</h3>
              <ul className={css.capabilities}>
                {found.data.capabilityChanges.map(({ message }) => (
                  <li key={message}>{message}</li>
                ))}
              </ul>
            </section>
          )}
          <Changes diff={found.data} />
        </>
      )}
    </Dialog>
  );
}

interface SideProps {
  label: string;
  value: string;
  choices: string[];
  onChange: (value: string) => void;
}

function Side({ label, value, choices, onChange }: SideProps) {
  return (
    <Field label={label}>
      {(control) => (
        <select {...control} value={value} onChange={(e) => onChange(e.target.value)}>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice === 'draft' ? said.theDraft : choice}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function advice({ bump, version }: { bump: string; version: string }): string {
  if (bump === 'none') return said.same;
  return version === '' ? said.aChange(bump) : said.aChangeTo(bump, version);
}
