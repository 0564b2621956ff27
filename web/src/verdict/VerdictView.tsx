import type { Verdict, VerdictFinding } from '../api/types';
import { approvalsPage, verdict as say } from '../texts/approvals';
import { Button } from '../ui/Button';
import { classes } from '../ui/classes';
import { Few } from '../ui/Few';
import css from './VerdictView.module.css';

interface Props {
  verdict: Verdict;
  /** Adds the safety flags that are missing to the draft. */
  onAddFlags?: ((flags: string[]) => void) | undefined;
}

/** The new capabilities and the findings of a verdict, with the place, the rule and the remedy of each. */
export function VerdictView({ verdict, onAddFlags }: Props) {
  const { capabilityChanges, findings, moreFindings, missingFlags = [] } = verdict;
  return (
    <section className={css.verdict} aria-label={say.label}>
      <p>
        <strong>{say[verdict.verdict]}</strong> · {say.score(verdict.score)}
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
        {say.severities[severity]}
      </span>{' '}
      {file !== undefined && <code>{say.place(file, line ?? 1)}</code>} {message}
      <small>
        {remedy} {say.why(ruleId)}
      </small>
    </li>
  );
}
