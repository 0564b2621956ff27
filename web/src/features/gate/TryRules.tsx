import { useState } from 'react';
import { useTrial } from '../../api/gate';
import type { RulePack, Trial } from '../../api/types';
import { rulesPage as say, trialSamples as samples } from '../../texts/gate';
import { CodeField } from '../../editor/CodeField';
import { Field } from '../../ui/Field';
import { NotLoaded } from '../../ui/NotLoaded';
import { useSettled } from '../../ui/useSettled';
import { VerdictView } from '../../verdict/VerdictView';
import css from './RulesPage.module.css';

/** The rule pack and the rule to try. Without them, the rules of the workspace apply. */
export interface Wanted {
  pack?: string;
  rule?: string;
}

type Language = keyof typeof samples;
const languages = ['python', 'javascript', 'typescript', 'bash'] as const satisfies Language[];

interface Props {
  packs: readonly RulePack[];
  wanted: Wanted;
  onWanted: (wanted: Wanted) => void;
}

const valueOf = ({ pack, rule }: Wanted): string => [pack ?? '', rule].filter((part) => part !== undefined).join('/');

function wantedOf(value: string): Wanted {
  const [pack, rule] = value.split('/');
  return { ...(pack && { pack }), ...(rule && { rule }) };
}

/** Shows the verdict about a piece of code while the user types the code. */
export function TryRules({ packs, wanted, onWanted }: Props) {
  const [language, setLanguage] = useState<Language>('python');
  const [texts, setTexts] = useState<Partial<Record<Language, string>>>({});
  const code = texts[language] ?? samples[language];
  return (
    <div className={css.try}>
      <div className={css.tryHead}>
        <Field label={say.rulesToTry}>
          {(control) => (
            <select {...control} value={valueOf(wanted)} onChange={(e) => onWanted(wantedOf(e.target.value))}>
              <option value="">{say.activeRules}</option>
              {packs.map(({ name }) => (
                <option key={name} value={name}>
                  {say.packToTry(name)}
                </option>
              ))}
              {wanted.rule !== undefined && <option value={valueOf(wanted)}>{say.ruleToTry(valueOf(wanted))}</option>}
            </select>
          )}
        </Field>
        <Field label={say.language}>
          {(control) => (
            <select
              {...control}
              value={language}
              onChange={(e) => setLanguage(languages.find((one) => one === e.target.value) ?? 'python')}
            >
              {languages.map((one) => (
                <option key={one} value={one}>
                  {say.languages[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field label={say.code}>
        {({ id }) => (
          <CodeField
            id={id}
            label={say.code}
            language={language === 'bash' ? 'shell' : language}
            className={css.code}
            text={code}
            onEdit={(typed) => setTexts({ ...texts, [language]: typed })}
          />
        )}
      </Field>
      <Outcome trial={{ language, code, ...wanted }} />
    </div>
  );
}

// The pause is short enough that the user does not wait, and long enough that not every key causes a request.
const pause = 350;

/** Returns the verdict about the code after a pause in typing. */
function Outcome({ trial }: { trial: Trial }) {
  const { language, code, pack, rule } = trial;
  const settled = useSettled(code, pause);
  const found = useTrial({ language, code: settled, ...(pack && { pack }), ...(rule && { rule }) });
  if (code.trim() === '') return <p className={css.quiet}>{say.typeSomething}</p>;
  return (
    <div aria-live="polite" aria-busy={found.isFetching || settled !== code} className={css.outcome}>
      <NotLoaded found={found} why={say.notJudged} />
      {found.data && !found.isError && <VerdictView verdict={found.data} />}
    </div>
  );
}
