import type { ReactNode } from 'react';
import { stringifyJson } from '../../api/json';
import type { Proposal } from '../../api/types';
import { TextDiff } from '../../diff/TextDiff';
import { proposals as say } from '../../texts/assist';
import { Check } from '../../ui/Field';
import type { Part } from './parts';
import css from './Proposal.module.css';
import { Attempts } from './Working';

interface Props {
  proposal: Pick<Proposal, 'trial' | 'verdict' | 'attempts' | 'model' | 'tokens'>;
  explanation: ReactNode;
  parts: readonly Part[];
  /** The IDs of the parts that the user skips. */
  left: ReadonlySet<string>;
  onLeave: (left: ReadonlySet<string>) => void;
  /** The ID of a part that the user cannot skip. */
  required?: string;
  succeeded?: (output: ReactNode) => ReactNode;
}

/** Shows a proposal: the explanation, the run, and the difference of each part. The user accepts or skips each part. */
export function Parts({ proposal, explanation, parts, left, onLeave, required, succeeded = say.succeeded }: Props) {
  const { trial, verdict, attempts, model, tokens } = proposal;
  const choose = (id: string, take: boolean): void =>
    onLeave(new Set(take ? [...left].filter((one) => one !== id) : [...left, id]));
  return (
    <div className={css.proposal}>
      {explanation}
      <p role="status" className={trial.reason === undefined ? css.trial : css.untried}>
        {trial.reason === undefined
          ? succeeded(<code>{stringifyJson(trial.output ?? null).slice(0, 200)}</code>)
          : trial.reason}
      </p>
      {verdict && verdict.verdict !== 'APPROVE' && <p className={css.untried}>{say.verdict(verdict.verdict)}</p>}
      {attempts.length > 0 && (
        <details>
          <summary>{say.attempts(attempts.length)}</summary>
          <Attempts attempts={attempts} />
        </details>
      )}
      {parts.map(({ id, title, path, before, after }) => (
        <section key={id} aria-label={title} className={css.part}>
          <div className={css.partHead}>
            {parts.length > 1 ? (
              <Check
                label={title}
                checked={!left.has(id)}
                disabled={id === required}
                onChange={(take) => choose(id, take)}
              />
            ) : (
              <h3>{title}</h3>
            )}
          </div>
          <TextDiff path={path} before={before} after={after} sides={say.sides} inline />
        </section>
      ))}
      <p className={css.quiet}>{say.model(model, tokens.input + tokens.output)}</p>
    </div>
  );
}
