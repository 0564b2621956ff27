import { Check } from '../../ui/Field';
import { problemAt, useOpenAgent } from '../agents/openAgent';
import css from './ConfigPanel.module.css';
import { Section } from './Section';

const flags: { flag: string; label: string; hint: string }[] = [
  { flag: 'pii_risk', label: 'Personal data', hint: 'It may read or return data about people.' },
  { flag: 'external_call', label: 'External call', hint: 'It calls a service outside of the workspace.' },
  { flag: 'side_effect', label: 'Side effect', hint: 'Running it twice is not the same as once.' },
  { flag: 'file_system', label: 'Files', hint: 'It reads or writes files beyond its own.' },
  { flag: 'network_access', label: 'Network', hint: 'It reaches the hosts that are granted under Network.' },
];

/** What a caller should know. A flag grants nothing. */
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
  return (
    <Section id="safety" title="Safety flags" summary={names.length === 0 ? 'None' : names.join(', ')}>
      <p className={css.hint}>They tell callers what to expect and grant nothing.</p>
      {flags.map(({ flag, label, hint }) => (
        <Check
          key={flag}
          label={label}
          hint={hint}
          checked={set.includes(flag)}
          disabled={session === undefined}
          onChange={(on) => change(flag, on)}
        />
      ))}
      {fields.language === 'python' && (
        <Check
          label="Restricted Python"
          hint="Imports from a list only; no eval, exec, compile, open or __import__. A convention: the sandbox is what holds."
          checked={restricted}
          disabled={session === undefined}
          onChange={(on) =>
            session?.editDraft({ rules: on ? { ...fields.rules, pack: 'restricted' } : { pack: 'none' } })
          }
        />
      )}
      {error !== undefined && <p className={css.error}>{error}</p>}
    </Section>
  );
}
