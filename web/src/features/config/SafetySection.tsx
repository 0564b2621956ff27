import { safetySection as say } from '../../texts/config';
import { Check } from '../../ui/Field';
import { problemAt, useOpenAgent } from '../../agent/openAgent';
import css from './ConfigPanel.module.css';
import { Plain } from './Plain';
import { Section } from './Section';

const flags: { flag: string; label: string; hint: string }[] = [
  { flag: 'pii_risk', label: say.personalData, hint: say.itMayReadOrReturn },
  { flag: 'external_call', label: say.externalCall, hint: say.itCallsAServiceOutside },
  { flag: 'side_effect', label: say.sideEffect, hint: say.runningItTwiceIs },
  { flag: 'file_system', label: say.files, hint: say.itReadsOrWritesFiles },
  { flag: 'network_access', label: say.network, hint: say.itReachesTheHosts },
];

/** Edits the safety flags, which are hints for callers. A flag grants no permission. */
export function SafetySection() {
  const { fields, save, session } = useOpenAgent();
  const set = fields.safetyFlags.filter((f) => f !== 'none');
  const change = (flag: string, on: boolean): void => {
    const next = flags.map((f) => f.flag).filter((f) => (f === flag ? on : set.includes(f)));
    session?.editDraft({ safetyFlags: next.length === 0 ? ['none'] : next });
  };
  const restricted = fields.rules?.pack === 'restricted';
  const error = problemAt(save, '/safetyFlags') ?? problemAt(save, '/rules');
  const names = flags.filter((f) => set.includes(f.flag)).map((f) => f.label.toLowerCase());
  if (restricted) names.push('restricted');
  if (!session) {
    const given = flags.filter((f) => set.includes(f.flag));
    return (
      <Section id="safety" title={say.safetyFlags} summary={names.length === 0 ? say.none : names.join(', ')}>
        <p className={css.hint}>{say.theyTellCallersWhat}</p>
        {given.map(({ flag, label, hint }) => (
          <Plain key={flag} label={label} text={hint} />
        ))}
        {restricted && <Plain label={say.restricted} text={say.restrictedHint} />}
        {names.length === 0 && <p>{say.none}</p>}
      </Section>
    );
  }
  return (
    <Section id="safety" title={say.safetyFlags} summary={names.length === 0 ? say.none : names.join(', ')}>
      <p className={css.hint}>{say.theyTellCallersWhat}</p>
      {flags.map(({ flag, label, hint }) => (
        <Check key={flag} label={label} hint={hint} checked={set.includes(flag)} onChange={(on) => change(flag, on)} />
      ))}
      {fields.language !== 'wasm' && (
        <Check
          label={say.restricted}
          hint={say.restrictedHint}
          checked={restricted}
          onChange={(on) =>
            session.editDraft({ rules: on ? { ...fields.rules, pack: 'restricted' } : { pack: 'none' } })
          }
        />
      )}
      {error !== undefined && <p className={css.error}>{error}</p>}
    </Section>
  );
}
