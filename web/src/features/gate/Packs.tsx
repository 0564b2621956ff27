import { useState } from 'react';
import { explain } from '../../api/http';
import { changeGate, refreshGate } from '../../api/gate';
import { useRights } from '../../api/rights';
import type { GateSettings, Rule, RulePack } from '../../api/types';
import { deleteRulePack } from '../../api/gate';
import { notify } from '../../state/notices';
import { rulesPage as say } from '../../texts/gate';
import { Button } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { Few } from '../../ui/Few';
import { Check } from '../../ui/Field';
import { leaveFocus } from '../../ui/focusBack';
import { TextField } from '../../ui/TextField';
import entries from '../../ui/Entries.module.css';
import { PackDialog } from './PackDialog';
import css from './RulesPage.module.css';

interface Props {
  packs: readonly RulePack[];
  settings: GateSettings;
  onTry: (pack: string, rule: string) => void;
}

/** Shows the rule packs with their rules. */
export function Packs({ packs, settings, onTry }: Props) {
  const { mayAnywhere } = useRights();
  const [making, setMaking] = useState(false);
  const [search, setSearch] = useState('');
  const allowed = mayAnywhere('admin');
  return (
    <section className={entries.section} aria-labelledby="rule-packs">
      <div className={entries.head}>
        <h2 id="rule-packs">{say.packs}</h2>
        {allowed && (
          <Button ref={leaveFocus} onClick={() => setMaking(true)}>
            {say.newPack}
          </Button>
        )}
      </div>
      <TextField label={say.search} value={search} onChange={setSearch} />
      {packs.map((pack) => (
        <Pack key={pack.name} pack={pack} settings={settings} search={search} allowed={allowed} onTry={onTry} />
      ))}
      {making && <PackDialog taken={packs.map((one) => one.name)} onClose={() => setMaking(false)} />}
    </section>
  );
}

/** Stores a change, and shows the reason if that fails. */
async function change(work: Promise<void>, done: string): Promise<void> {
  try {
    await work;
    notify('done', done);
  } catch (error) {
    notify('failed', explain(error));
  }
}

const without = (list: readonly string[], name: string): string[] => list.filter((one) => one !== name);

interface PackProps {
  pack: RulePack;
  settings: GateSettings;
  search: string;
  allowed: boolean;
  onTry: (pack: string, rule: string) => void;
}

const restricted = 'restricted';
const shownAtFirst = 6;

function Pack({ pack, settings, search, allowed, onTry }: PackProps) {
  const { name, title, builtIn, rules } = pack;
  const [asked, setAsked] = useState<'edit' | 'remove'>();
  const active = settings.packs.includes(name);
  const off = rules.filter(({ id }) => settings.disabledRules.includes(`${name}/${id}`)).length;
  const words = search.toLowerCase().split(/\s+/);
  const found = rules.filter((rule) => words.every((word) => textOf(name, rule).includes(word)));
  const apply = (on: boolean): void =>
    void change(
      changeGate(({ packs }) => ({ packs: on ? [...without(packs, name), name] : without(packs, name) })),
      on ? say.isOn(name) : say.isOff(name),
    );
  const remove = async (): Promise<void> => {
    await change(deleteRulePack(name).then(refreshGate), say.removed(name));
  };
  const close = (): void => setAsked(undefined);
  return (
    <section className={css.pack} aria-label={name}>
      <div className={entries.head}>
        <div>
          <h3>
            {name} <span className={css.quiet}>{builtIn ? say.builtIn : say.own}</span>
          </h3>
          <p className={css.quiet}>{[title, say.count(rules.length, off)].filter((part) => part !== '').join(' · ')}</p>
        </div>
        {allowed && !builtIn && (
          <div className={entries.acts}>
            <Button ref={leaveFocus} aria-label={say.editNamed(name)} onClick={() => setAsked('edit')}>
              {say.edit}
            </Button>
            <Button
              ref={leaveFocus}
              aria-label={say.removeNamed(name)}
              disabled={active}
              title={active ? say.turnOffFirst : undefined}
              onClick={() => setAsked('remove')}
            >
              {say.remove}
            </Button>
          </div>
        )}
      </div>
      <Check
        label={say.applies}
        hint={name === restricted ? say.restrictedHint : undefined}
        checked={active}
        disabled={!allowed}
        onChange={apply}
      />
      {found.length === 0 ? (
        <p className={css.quiet}>{say.noneFound}</p>
      ) : (
        <Few items={found} most={search.trim() === '' ? shownAtFirst : found.length}>
          {(shown) => (
            <ul className={css.rules} aria-label={say.ruleList(name)}>
              {shown.map((rule) => (
                <RuleRow
                  key={rule.id}
                  pack={name}
                  rule={rule}
                  on={!settings.disabledRules.includes(`${name}/${rule.id}`)}
                  allowed={allowed}
                  onTry={() => onTry(name, rule.id)}
                />
              ))}
            </ul>
          )}
        </Few>
      )}
      {asked === 'edit' && <PackDialog pack={pack} taken={[]} onClose={close} />}
      {asked === 'remove' && (
        <ConfirmDialog
          title={say.removeTitle(name)}
          about={say.removeAbout}
          verb={say.remove}
          onClose={close}
          onConfirm={() => void remove()}
        />
      )}
    </section>
  );
}

const textOf = (pack: string, { id, title, remedy, severity, language }: Rule): string =>
  [`${pack}/${id}`, title, remedy, severity, ...(language ?? [])].join(' ').toLowerCase();

interface RowProps {
  pack: string;
  rule: Rule;
  on: boolean;
  allowed: boolean;
  onTry: () => void;
}

// The weights of the severities. The server uses them for rules that set no weight.
const weights: Readonly<Record<string, number>> = { low: 0.1, medium: 0.25, high: 0.5, critical: 1 };

function RuleRow({ pack, rule, on, allowed, onTry }: RowProps) {
  const { id, title, language, severity, weight, remedy, require } = rule;
  const full = `${pack}/${id}`;
  const toggle = (): void =>
    void change(
      changeGate(({ disabledRules }) => ({
        disabledRules: on ? [...without(disabledRules, full), full] : without(disabledRules, full),
      })),
      on ? say.isOff(full) : say.isOn(full),
    );
  return (
    <li className={css.rule} data-off={!on}>
      <input type="checkbox" aria-label={full} title={full} checked={on} disabled={!allowed} onChange={toggle} />
      <div className={css.about}>
        <span>{title}</span>
        <small>{remedy}</small>
        <small>
          <code>{id}</code> · {language?.map((one) => languageOf(one)).join(', ') ?? say.allLanguages}
          {require === true && ` · ${say.requires}`}
        </small>
      </div>
      <span className={css.cost}>
        <span
          className={classes(css.severity, severity === 'high' && css.high, severity === 'critical' && css.critical)}
        >
          {severity}
        </span>
        <small>{say.weight(weight ?? weights[severity] ?? 0)}</small>
      </span>
      <Button aria-label={say.tryNamed(full)} onClick={onTry}>
        {say.tryRule}
      </Button>
    </li>
  );
}

const names: Readonly<Record<string, string>> = say.languages;
const languageOf = (language: string): string => names[language] ?? language;
