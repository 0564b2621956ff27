import type { RunAnswer } from '../../api/types';
import { useCapabilities } from '../../api/queries';
import { showDialog } from '../../state/dialogs';
import { fixDialog } from '../../texts/assist';
import { errorCard as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { Summary } from '../../ui/Summary';
import { useOpenAgent } from '../../agent/openAgent';
import { withLimitsNamed } from '../../agent/limits';
import { DeniedHost } from './DeniedHost';
import css from './ResultTab.module.css';
import { finalStatus } from '../../agent/runStatus';
import { limitOf } from './runState';

interface Props {
  answer: RunAnswer;
  onGoTo: (path: string, line: number) => void;
  onRaise: (limit: string) => void;
}

/** Shows why the program failed, at which position, and possible fixes. */
export function ErrorCard({ answer, onGoTo, onRaise }: Props) {
  const { paths, session } = useOpenAgent();
  const languageModel = useCapabilities().data?.languageModel;
  const { error } = answer;
  if (!error) return null;
  const { type, message, file, line, column, stack, remedy, rule, grant, errors = [] } = error;
  const limit = session && limitOf(type);
  const { text, look } = finalStatus(answer);
  const place = file !== undefined && line !== undefined && paths.includes(file) ? { file, line } : undefined;
  return (
    <section className={css.error} data-look={look} aria-label={say.error}>
      <h2>{text}</h2>
      {errors.length === 0 && <p className={css.message}>{message}</p>}
      {errors.length > 0 && (
        <ul className={css.message} aria-label={say.refusedValues}>
          {errors.map((one, i) => (
            <li key={i}>
              <code>{one.pointer}</code> {one.message}
            </li>
          ))}
        </ul>
      )}
      {/* The allow button replaces the remedy text. */}
      {remedy !== undefined && remedy !== '' && !(session && grant?.hosts) && (
        <p className={css.remedy}>{withLimitsNamed(remedy)}</p>
      )}
      {rule !== undefined && rule !== '' && <p className={css.rule}>{say.rule(<code>{rule}</code>)}</p>}
      {grant?.hosts && <DeniedHost key={answer.runId} hosts={grant.hosts} />}
      <div className={css.actions}>
        {place && (
          <Button look="link" onClick={() => onGoTo(place.file, place.line)}>
            {place.file}:{place.line}
            {column !== undefined && column > 0 && `:${column}`}
          </Button>
        )}
        {limit !== undefined && (
          <Button look="link" onClick={() => onRaise(limit)}>
            {say.raiseLimit}
          </Button>
        )}
        {session && languageModel !== undefined && (
          <Button onClick={() => showDialog({ kind: 'fix', runId: answer.runId })}>{fixDialog.button}</Button>
        )}
      </div>
      {stack !== undefined && stack !== '' && (
        <details className={css.stack}>
          <Summary>{say.stack}</Summary>
          <pre>{stack}</pre>
        </details>
      )}
    </section>
  );
}
