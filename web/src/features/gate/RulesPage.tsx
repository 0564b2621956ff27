import { useEffect, useRef, useState } from 'react';
import { useGate, useRulePacks } from '../../api/gate';
import { useRights } from '../../api/rights';
import { Column, Page } from '../../frame/Page';
import { rulesPage as say } from '../../texts/gate';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { GateNav } from '../../verdict/GateNav';
import { GateForm } from './GateForm';
import { Packs } from './Packs';
import css from './RulesPage.module.css';
import { TryRules, type Wanted } from './TryRules';

/** Shows the rules of the policy gate: the settings, a form to try the rules, and the rule packs. */
export function RulesPage() {
  const { mayAnywhere, why } = useRights();
  const gate = useGate();
  const packs = useRulePacks();
  const [wanted, setWanted] = useState<Wanted>({});
  const trial = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const tryRule = (pack: string, rule: string): void => {
    setWanted({ pack, rule });
    trial.current?.scrollIntoView({ block: 'start' });
    trial.current?.querySelector('textarea')?.focus({ preventScroll: true });
  };
  return (
    <Page>
      <Column>
        <GateNav />
        <section className={entries.section}>
          <div>
            <h1>{say.title}</h1>
            <p className={entries.lead}>{say.lead}</p>
          </div>
          {!mayAnywhere('admin') && (
            <p role="status" className={css.readOnly}>
              {say.readOnly(why('admin'))}
            </p>
          )}
        </section>
        <section className={entries.section} aria-labelledby="gate-settings">
          <h2 id="gate-settings">{say.settings}</h2>
          {gate.isPending && <Waiting shape="rows" what={say.theGate} retry />}
          <NotLoaded found={gate} why={say.notLoaded} />
          {gate.data && <GateForm settings={gate.data} />}
        </section>
        <section ref={trial} className={css.trial} aria-labelledby="gate-trial">
          <div>
            <h2 id="gate-trial">{say.try}</h2>
            <p className={entries.lead}>{say.tryAbout}</p>
          </div>
          <TryRules packs={packs.data ?? []} wanted={wanted} onWanted={setWanted} />
        </section>
        <NotLoaded found={packs} why={say.packsNotLoaded} />
        {packs.isPending && <Waiting shape="rows" what={say.thePacks} retry />}
        {packs.data && gate.data && <Packs packs={packs.data} settings={gate.data} onTry={tryRule} />}
      </Column>
    </Page>
  );
}
