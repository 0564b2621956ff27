import { ShieldAlert, ShieldCheck, ShieldX } from 'lucide-react';
import { useVerdict } from '../api/queries';
import { verdict as say } from '../texts/approvals';
import { useOpenAgent } from './openAgent';
import css from './VerdictChip.module.css';

const icons = { APPROVE: ShieldCheck, WARN: ShieldAlert, ESCALATE: ShieldAlert, BLOCK: ShieldX } as const;

/**
 * Shows the policy gate's verdict about the saved draft, next to Run and Publish. On screens narrower than 1600 pixels
 * it shows only an icon.
 */
export function VerdictChip({ onClick }: { onClick: () => void }) {
  const { name, version, session, save } = useOpenAgent();
  const draft = version === undefined && session !== undefined;
  const found = useVerdict(name, session?.get().draft.revision ?? 0, draft && save.kind === 'saved');
  if (!draft || !found.data) return null;
  const { verdict, findings, capabilityChanges } = found.data;
  const all = [...capabilityChanges, ...findings].map(({ message }) => message);
  const Icon = icons[verdict];
  return (
    <button
      type="button"
      className={css.chip}
      data-verdict={verdict}
      aria-label={say[verdict]}
      title={[say[verdict], ...all.slice(0, 10)].join('\n')}
      onClick={onClick}
    >
      <Icon size={16} aria-hidden />
      <span>{say[verdict]}</span>
    </button>
  );
}
