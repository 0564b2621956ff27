import { CircleCheck, Hourglass, Info, OctagonX, type LucideIcon } from 'lucide-react';
import { useState, type ReactNode, type SyntheticEvent } from 'react';
import { changeGate } from '../../api/gate';
import { useRights } from '../../api/rights';
import type { GateSettings } from '../../api/types';
import { notify } from '../../state/notices';
import { rulesPage as say } from '../../texts/gate';
import { Button } from '../../ui/Button';
import { Choices } from '../../ui/Choices';
import { Fault } from '../../ui/Fault';
import { Check, Field, suffix, suffixed } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import css from './RulesPage.module.css';

type Severity = GateSettings['blockAt'];

const modes = ['off', 'advise', 'enforce'] as const satisfies GateSettings['gate'][];
const severities = ['low', 'medium', 'high', 'critical'] as const satisfies Severity[];
const changes = ['escalate', 'warn'] as const satisfies GateSettings['newCapability'][];

/** The settings in this form. Rule packs and rules have separate controls. */
type Fields = Omit<GateSettings, 'packs' | 'disabledRules'>;

const fieldsOf = ({ packs: _packs, disabledRules: _rules, ...fields }: GateSettings): Fields => fields;

/**
 * Shows the mode, the thresholds and the rules for approvals. Users without the right to change them cannot edit them.
 */
export function GateForm({ settings }: { settings: GateSettings }) {
  const { mayAnywhere } = useRights();
  const allowed = mayAnywhere('admin');
  const [edited, setEdited] = useState<Partial<Fields>>({});
  const [hours, setHours] = useState<string>();
  const task = useTask();
  const fields = { ...fieldsOf(settings), ...edited };
  const typed = hours ?? String(fields.approvalHours);
  const valid = /^\d{1,4}$/.test(typed) && Number(typed) >= 1 && Number(typed) <= 8760;
  const wanted: Fields = { ...fields, ...(valid && { approvalHours: Number(typed) }) };
  const same = JSON.stringify(wanted) === JSON.stringify(fieldsOf(settings));
  const edit = (change: Partial<Fields>): void => setEdited({ ...edited, ...change });
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    if (!valid || same || !allowed) return;
    task.run(async () => {
      // Send only the settings that the user edited here, because another person may have changed the others.
      await changeGate(() => ({ ...edited, ...(hours !== undefined && { approvalHours: Number(typed) }) }));
      setEdited({});
      setHours(undefined);
      notify('done', say.saved);
    });
  };
  return (
    <form className={css.settings} onSubmit={submit}>
      <div className={css.mode}>
        <div className={css.choice}>
          <span aria-hidden>{say.mode}</span>
          <Choices
            label={say.mode}
            choices={modes.map((mode) => ({ value: mode, label: say.modes[mode], disabled: !allowed || task.busy }))}
            value={fields.gate}
            onChange={(gate) => edit({ gate })}
          />
        </div>
        <div className={css.announced} role="status" aria-label={say.effects}>
          <p>{say.aboutModes[fields.gate]}</p>
          <dl className={css.effects}>
            {effectsOf(fields).map(([cause, effect, Icon], i) => (
              <div key={i}>
                <dt>{cause}</dt>
                <dd>
                  <Icon size={14} aria-hidden />
                  {effect}
                </dd>
              </div>
            ))}
          </dl>
        </div>
      </div>
      {fields.gate !== 'off' && (
        <fieldset className={css.group}>
          <legend>{say.verdicts}</legend>
          <div className={css.fields}>
            <Field label={say.blockAt} hint={say.blockAtHint}>
              {(control) => (
                <select
                  {...control}
                  disabled={!allowed || task.busy}
                  value={fields.blockAt}
                  onChange={(e) => edit({ blockAt: severityOf(e.target.value, fields.blockAt) })}
                >
                  <Severities />
                </select>
              )}
            </Field>
            <Field label={say.escalateAt} hint={say.escalateAtHint}>
              {(control) => (
                <select
                  {...control}
                  disabled={!allowed || task.busy}
                  value={fields.escalateAt}
                  onChange={(e) => edit({ escalateAt: severityOf(e.target.value, fields.escalateAt) })}
                >
                  <Severities />
                </select>
              )}
            </Field>
            <Field label={say.newCapability} hint={say.newCapabilityHint}>
              {(control) => (
                <select
                  {...control}
                  disabled={!allowed || task.busy}
                  value={fields.newCapability}
                  onChange={(e) => edit({ newCapability: e.target.value === 'warn' ? 'warn' : 'escalate' })}
                >
                  {changes.map((change) => (
                    <option key={change} value={change}>
                      {say.newCapabilities[change]}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </div>
        </fieldset>
      )}
      <fieldset className={css.group}>
        <legend>{say.approvals}</legend>
        {fields.gate !== 'off' && (
          <Check
            label={say.approveSideEffects(<code>side_effect</code>)}
            checked={fields.approveSideEffects}
            disabled={!allowed || task.busy}
            onChange={(approveSideEffects) => edit({ approveSideEffects })}
          />
        )}
        <Check
          label={say.selfApproval}
          checked={fields.selfApproval}
          disabled={!allowed || task.busy}
          onChange={(selfApproval) => edit({ selfApproval })}
        />
        <div className={css.fields}>
          <Field label={say.approvalHours} error={valid ? task.at('/approvalHours') : say.hoursRange}>
            {(control) => (
              <div className={suffixed}>
                <input
                  {...control}
                  inputMode="numeric"
                  autoComplete="off"
                  disabled={!allowed || task.busy}
                  value={typed}
                  onChange={(e) => setHours(e.target.value.trim())}
                />
                <span className={suffix} aria-hidden>
                  {say.hours}
                </span>
              </div>
            )}
          </Field>
        </div>
      </fieldset>
      <Fault message={task.fault} />
      {allowed && (
        <div>
          <Button type="submit" look="primary" disabled={task.busy || same || !valid}>
            {say.save}
          </Button>
        </div>
      )}
    </form>
  );
}

/** Each cause with its effect in the chosen mode, and the icon of the effect. */
function effectsOf({ gate, approveSideEffects }: Fields): [ReactNode, string, LucideIcon][] {
  const { blocks, escalates, sideEffect, asksForApproval } = say.causes;
  const waits: [string, LucideIcon] = [say.waits, Hourglass];
  const asked: [ReactNode, string, LucideIcon] = [asksForApproval(<code>requiresApproval</code>), ...waits];
  if (gate === 'off') return [[say.causes.any, say.isPublished, CircleCheck], asked];
  return [
    [blocks, gate === 'enforce' ? say.stopsAll : say.stopsPublishing, OctagonX],
    [escalates, ...(gate === 'enforce' ? waits : ([say.isShown, Info] as const))],
    [sideEffect(<code>side_effect</code>), ...(approveSideEffects ? waits : ([say.starts, CircleCheck] as const))],
    asked,
  ];
}

const severityOf = (text: string, otherwise: Severity): Severity => severities.find((one) => one === text) ?? otherwise;

function Severities() {
  return (
    <>
      {severities.map((severity) => (
        <option key={severity} value={severity}>
          {say.severities[severity]}
        </option>
      ))}
    </>
  );
}
