import { CircleCheck, CircleMinus } from 'lucide-react';
import { useState } from 'react';
import { explain } from '../../api/http';
import { switchLanguageModel, useLanguageModel } from '../../api/languageModel';
import { useRights } from '../../api/rights';
import { notify } from '../../state/notices';
import { languageModel as say } from '../../texts/usage';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import entries from '../../ui/Entries.module.css';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { Waiting } from '../../ui/Waiting';

/**
 * Shows the language model of the workspace and its tokens in this month. Administrators can switch the model off and
 * on.
 */
export function ModelSwitch() {
  const found = useLanguageModel();
  const { mayAnywhere } = useRights();
  const [busy, setBusy] = useState(false);
  const state = found.data;
  const administers = state?.allowed === true && mayAnywhere('admin');
  const turn = async (on: boolean, model?: string): Promise<void> => {
    setBusy(true);
    try {
      await switchLanguageModel(on, model);
      notify('done', model !== undefined ? say.chosen(model, on) : on ? say.switchedOn : say.switchedOff);
    } catch (fault) {
      notify('failed', explain(fault));
    }
    setBusy(false);
  };
  return (
    <section className={entries.section} aria-labelledby="model">
      <div className={entries.head}>
        <div>
          <h2 id="model">{say.title}</h2>
          <p className={entries.lead}>{say.about}</p>
        </div>
        {administers && (
          <Button disabled={busy} onClick={() => void turn(!state.on)}>
            {state.on ? say.switchOff : say.switchOn}
          </Button>
        )}
      </div>
      {found.isPending && <Waiting shape="text" what={say.theModel} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {state && (
        <p role="status">
          <StateMark
            look={state.allowed && state.on ? 'ok' : 'quiet'}
            icon={state.allowed && state.on ? CircleCheck : CircleMinus}
          >
            {summaryOf(state)}
          </StateMark>
        </p>
      )}
      {administers && state.models.length > 1 && (
        <Field label={say.model} hint={say.modelHint}>
          {(control) => (
            <select
              {...control}
              disabled={busy}
              value={state.model}
              onChange={(event) => void turn(state.on, event.target.value)}
            >
              {state.models.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
      )}
    </section>
  );
}

type State = NonNullable<ReturnType<typeof useLanguageModel>['data']>;

function summaryOf({ allowed, on, model, used, limit }: State): string {
  if (!allowed) return say.none;
  if (!on) return say.off(model ?? '');
  return say.on(model ?? '', used.input + used.output, limit);
}
