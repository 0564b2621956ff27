import { useState, type SyntheticEvent } from 'react';
import { refreshFacts, usePins, useVersions } from '../../api/queries';
import type { Pin, VersionSummary } from '../../api/types';
import { deprecate } from '../../api/verbs';
import { closeDialog } from '../../app/dialogs';
import { notify } from '../../app/noticeStore';
import { common } from '../../texts/common';
import { deprecateDialog as say } from '../../texts/versions';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import { useOpenAgent } from '../agents/openAgent';
import { PinTable } from './PinTable';

/** Marks a version as one that callers should leave, with the reason and where to go; or takes the mark back. */
export function DeprecateDialog({ version }: { version: string }) {
  const { name } = useOpenAgent();
  const versions = useVersions(name);
  const pins = usePins(name);
  const shown = versions.data?.find((v) => v.version === version);
  if (!shown || !pins.data) {
    return (
      <Dialog title={say.deprecate(version)} onClose={closeDialog}>
        <Fault message={versions.error?.message ?? pins.error?.message} />
        {!versions.isError && !pins.isError && <p>{say.lookingWhoReferencesIt}</p>}
      </Dialog>
    );
  }
  return <Ask shown={shown} others={others(versions.data ?? [], version)} pins={pins.data} />;
}

const others = (all: VersionSummary[], version: string): VersionSummary[] =>
  all.filter((v) => v.version !== version && !v.deprecated);

function Ask({ shown, others: choices, pins }: { shown: VersionSummary; others: VersionSummary[]; pins: Pin[] }) {
  const { name } = useOpenAgent();
  const { version } = shown;
  const [reason, setReason] = useState(shown.reason ?? '');
  const [successor, setSuccessor] = useState(shown.successor ?? choices[0]?.reference ?? '');
  const task = useTask();
  const moving = pins.filter((pin) => pin.version === version);

  const put = (deprecated: boolean): void =>
    task.run(async () => {
      await deprecate(
        name,
        version,
        deprecated ? { deprecated, reason: reason.trim(), successor: successor.trim() } : { deprecated },
      );
      refreshFacts(name);
      closeDialog();
      notify('done', deprecated ? say.isDeprecated(name, version) : say.isAsGoodAsNew(name, version));
    });
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    if (reason.trim() === '') return task.fail(say.sayWhy);
    put(true);
  };
  return (
    <Dialog
      medium
      title={say.deprecateNamed(name, version)}
      about={say.deprecateAbout}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          {shown.deprecated && (
            <Button disabled={task.busy} onClick={() => put(false)}>
              {say.takeItBack}
            </Button>
          )}
          <Button look="primary" type="submit" form="deprecate" disabled={task.busy}>
            {shown.deprecated ? say.change : say.verb}
          </Button>
        </>
      }
    >
      <form id="deprecate" onSubmit={submit} style={{ display: 'grid', gap: 12 }}>
        <TextField label={say.why} hint={say.whyHint} error={task.fault} value={reason} onChange={setReason} />
        <Field label={say.whatToUseInstead} mono hint={choices.length === 0 ? say.noOther : say.whatToUseInsteadHint}>
          {(control) => (
            <>
              <input
                {...control}
                list="successors"
                value={successor}
                autoComplete="off"
                spellCheck={false}
                onChange={(e) => setSuccessor(e.target.value)}
              />
              <datalist id="successors">
                {choices.map((v) => (
                  <option key={v.version} value={v.reference} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      </form>
      <section aria-label={say.whoMustMove} style={{ display: 'grid', gap: 8 }}>
        <p>{moving.length === 0 ? say.nobodyIsRegisteredAsUsing : say.theseMustMove(successor.trim())}</p>
        {moving.length > 0 && <PinTable pins={moving} />}
      </section>
    </Dialog>
  );
}
