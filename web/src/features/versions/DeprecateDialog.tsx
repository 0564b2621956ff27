import { useState, type SyntheticEvent } from 'react';
import { refreshFacts, usePins, useVersions } from '../../api/queries';
import type { Pin, VersionSummary } from '../../api/types';
import { deprecate } from '../../api/verbs';
import { closeDialog, useCloseOwn } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { common } from '../../texts/common';
import { deprecateDialog as say } from '../../texts/versions';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { NotLoaded } from '../../ui/NotLoaded';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import { Waiting } from '../../ui/Waiting';
import { useOpenAgent } from '../../agent/openAgent';
import { PinTable } from '../../agent/PinTable';

/** Deprecates a version with a reason and a successor, or ends the deprecation. */
export function DeprecateDialog({ version }: { version: string }) {
  const { name } = useOpenAgent();
  const versions = useVersions(name);
  const pins = usePins(name);
  const shown = versions.data?.find((v) => v.version === version);
  const choices = others(versions.data ?? [], version);
  const [typedReason, setReason] = useState<string>();
  const [typedSuccessor, setSuccessor] = useState<string>();
  const reason = typedReason ?? shown?.reason ?? '';
  const successor = typedSuccessor ?? shown?.successor ?? likely(choices)?.reference ?? '';
  const task = useTask();
  const closeOwn = useCloseOwn();

  const put = (deprecated: boolean): void =>
    task.run(async () => {
      await deprecate(
        name,
        version,
        deprecated ? { deprecated, reason: reason.trim(), successor: successor.trim() } : { deprecated },
      );
      refreshFacts(name);
      closeOwn();
      notify('done', deprecated ? say.isDeprecated(name, version) : say.isNoLongerDeprecated(name, version));
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
          {shown?.deprecated && (
            <Button disabled={task.busy} onClick={() => put(false)}>
              {say.undoDeprecation}
            </Button>
          )}
          <Button
            look="primary"
            type="submit"
            form="deprecate"
            disabled={task.busy || shown === undefined || pins.data === undefined}
          >
            {shown?.deprecated ? say.change : say.verb}
          </Button>
        </>
      }
    >
      {shown === undefined && versions.isFetching && <Waiting shape="fields" what={say.theVersion} retry />}
      {shown === undefined && <NotLoaded found={versions} why={say.notLoaded} />}
      {shown === undefined && versions.isSuccess && !versions.isFetching && <Fault message={say.gone(version)} />}
      {/* Rendered at once: a field that appears after the references load would steal the focus. */}
      {shown && (
        <form id="deprecate" onSubmit={submit} style={{ display: 'grid', gap: 12 }}>
          <TextField label={say.why} hint={say.whyHint} error={task.fault} value={reason} onChange={setReason} />
          <Field label={say.successor} mono hint={choices.length === 0 ? say.noOther : say.successorHint}>
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
      )}
      {shown && pins.isPending && <Waiting shape="line" what={say.references} retry />}
      {shown && pins.data && (
        <Movers pins={pins.data.filter((pin) => pin.version === version)} successor={successor.trim()} />
      )}
      {shown && pins.data === undefined && <NotLoaded found={pins} why={say.referencesNotLoaded} />}
    </Dialog>
  );
}

const others = (all: VersionSummary[], version: string): VersionSummary[] =>
  all.filter((v) => v.version !== version && !v.deprecated);

/** A pre-release is proposed as the successor only if there is no other version. */
const likely = (all: VersionSummary[]): VersionSummary | undefined =>
  all.find(({ version }) => !version.replace(/\+.*/, '').includes('-')) ?? all[0];

/** Lists the owners that reference the version. */
function Movers({ pins, successor }: { pins: Pin[]; successor: string }) {
  return (
    <section aria-label={say.affected} style={{ display: 'grid', gap: 8 }}>
      <p>{pins.length === 0 ? say.nobodyIsRegisteredAsUsing : say.theseMustMove(successor)}</p>
      {pins.length > 0 && <PinTable pins={pins} />}
    </section>
  );
}
