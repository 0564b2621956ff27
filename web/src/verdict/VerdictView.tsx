import { CircleCheck, Hourglass, Info, OctagonX, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { Verdict, VerdictFinding } from '../api/types';
import { approvalsPage, verdict as say } from '../texts/approvals';
import { Button } from '../ui/Button';
import { classes } from '../ui/classes';
import { Few } from '../ui/Few';
import { StateMark, type Look } from '../ui/StateMark';
import css from './VerdictView.module.css';

interface Props {
  verdict: Verdict;
  /** Adds the safety flags that are missing to the draft. */
  onAddFlags?: ((flags: string[]) => void) | undefined;
}

const marks: Record<Verdict['verdict'], { icon: LucideIcon; look: Look }> = {
  APPROVE: { icon: CircleCheck, look: 'ok' },
  WARN: { icon: TriangleAlert, look: 'warn' },
  ESCALATE: { icon: Hourglass, look: 'warn' },
  BLOCK: { icon: OctagonX, look: 'err' },
};

/** Shows the new capabilities and the findings of a verdict, each with its position, its rule and its remedy. */
export function VerdictView({ verdict, onAddFlags }: Props) {
  const { capabilityChanges, findings, moreFindings, missingFlags = [] } = verdict;
  return (
    <section className={css.verdict} aria-label={say.label}>
      <p className={css.head}>
        <StateMark {...marks[verdict.verdict]}>{say[verdict.verdict]}</StateMark>
        {verdict.score < 1 && <span title={say.aboutScore}>{say.score(verdict.score)}</span>}
      </p>
      {capabilityChanges.length > 0 && (
        <>
          <p className={css.title}>{approvalsPage.changes}</p>
          <ul>
            {capabilityChanges.map(({ message }) => (
              <li key={message}>{message}</li>
            ))}
          </ul>
        </>
      )}
      {missingFlags.length > 0 && onAddFlags && (
        <div className={css.flags}>
          <span>{say.missingFlags(missingFlags)}</span>
          <Button onClick={() => onAddFlags(missingFlags)}>{say.addFlags(missingFlags)}</Button>
        </div>
      )}
      {findings.length > 0 && (
        <>
          <p className={css.title}>{approvalsPage.findings}</p>
          <Few items={findings} most={8}>
            {(shown) => (
              <ul>
                {shown.map((f) => (
                  <Row key={`${f.ruleId} ${f.file ?? ''} ${String(f.line ?? 0)}`} finding={f} />
                ))}
              </ul>
            )}
          </Few>
          {moreFindings !== undefined && <p>{say.more(moreFindings)}</p>}
        </>
      )}
    </section>
  );
}

function Row({ finding }: { finding: VerdictFinding }) {
  const { severity, file, line, message, remedy, ruleId } = finding;
  return (
    <li>
      <span className={classes(css.severity, severity === 'high' && css.high, severity === 'critical' && css.critical)}>
        {severity === 'low' ? <Info size={12} aria-hidden /> : <TriangleAlert size={12} aria-hidden />}
        {say.severities[severity]}
      </span>{' '}
      {file !== undefined && <code>{say.place(file, line ?? 1)}</code>} {message}
      <small>
        {remedy} {say.why(ruleId)}
      </small>
    </li>
  );
}
