import { Check } from '../../ui/Field';
import { problemAt, useOpenAgent } from '../agents/openAgent';
import css from './ConfigPanel.module.css';
import { Section } from './Section';

const flags: { flag: string; label: string; hint: string }[] = [
  { flag: 'pii_risk', label: 'Personal data', hint: 'It may read or return data about people.' },
  { flag: 'external_call', label: 'External call', hint: 'It calls a service outside of the workspace.' },
  { flag: 'side_effect', label: 'Side effect', hint: 'Running it twice is not the same as once.' },
  { flag: 'file_system', label: 'Files', hint: 'It reads or writes files beyond its own.' },
  { flag: 'network_access', label: 'Network', hint: 'It needs hosts to be granted.' },
];

/** What a caller should know. A flag grants nothing. */
export function SafetySection() {
  const { fields, save, session } = useOpenAgent();
  const set = fields.safetyFlags.filter((f) => f !== 'none');
  const change = (flag: string, on: boolean): void => {
    const next = flags.map((f) => f.flag).filter((f) => (f === flag ? on : set.includes(f)));
    session?.editDraft({ safetyFlags: next.length === 0 ? ['none'] : next });
  };
  const error = problemAt(save, '/safetyFlags');
  const names = flags.filter((f) => set.includes(f.flag)).map((f) => f.label.toLowerCase());
  return (
    <Section id="safety" title="Safety flags" summary={names.length === 0 ? 'None' : names.join(', ')}>
      <p className={css.hint}>They tell callers what to expect and grant nothing. The network is off.</p>
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
      {error !== undefined && <p className={css.error}>{error}</p>}
    </Section>
  );
}
