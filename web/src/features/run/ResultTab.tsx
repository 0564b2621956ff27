import { resultTab as say, testsTab } from '../../texts/run';
import { showDialog } from '../../state/dialogs';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { useOpenAgent } from '../../agent/openAgent';
import { BudgetUsedUp } from './BudgetUsedUp';
import { ErrorCard } from './ErrorCard';
import { MissingSecrets } from './MissingSecrets';
import { Output } from './Output';
import css from './ResultTab.module.css';
import { RunFacts } from './RunFacts';
import { StartButton } from './StartButton';
import type { RunHandle } from './useRun';

interface Props {
  run: RunHandle;
  onGoTo: (path: string, line: number) => void;
  onRaise: (limit: string) => void;
}

export function ResultTab({ run, onGoTo, onRaise }: Props) {
  const { run: state } = run.view;
  const { id, version, fields, session } = useOpenAgent();
  if (state.kind !== 'done') {
    if (run.busy) return <Empty>{say.whenItEnds}</Empty>;
    if (state.kind === 'refused' && state.secrets.length > 0) return <MissingSecrets names={state.secrets} />;
    if (state.kind === 'refused' && state.budget) return <BudgetUsedUp budget={state.budget} />;
    return <Empty actions={<StartButton />}>{state.kind === 'refused' ? state.message : say.noResultYet}</Empty>;
  }
  const { answer } = state;
  const hasOutput = answer.success || answer.output !== null;
  const keep = session && (
    <Button onClick={() => showDialog({ kind: 'keepTest', runId: answer.runId })}>{testsTab.keep}</Button>
  );
  return (
    <div className={css.tab}>
      <div className={css.main}>
        {answer.error && <ErrorCard answer={answer} onGoTo={onGoTo} onRaise={onRaise} />}
        {hasOutput ? (
          <Output
            key={answer.runId}
            answer={answer}
            open={{ id, version, outputSchema: fields.outputSchema }}
            action={keep}
          />
        ) : (
          keep
        )}
      </div>
      <div className={css.side}>
        <RunFacts answer={answer} memoryLimit={run.memoryLimit} />
      </div>
    </div>
  );
}
