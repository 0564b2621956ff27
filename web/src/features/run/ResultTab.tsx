import { CircleCheck, CircleX } from 'lucide-react';
import { stringifyJson } from '../../api/json';
import type { RunAnswer } from '../../api/types';
import { isMac, runCommand } from '../../app/commands';
import { showKeys } from '../../app/hotkeys';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Empty } from '../../ui/Empty';
import { ErrorCard } from './ErrorCard';
import { JsonTree } from './JsonTree';
import css from './ResultTab.module.css';
import { RunFacts } from './RunFacts';
import type { RunHandle } from './useRun';

interface Props {
  run: RunHandle;
  onGoTo: (path: string, line: number) => void;
  onRaise: (limit: string) => void;
}

export function ResultTab({ run, onGoTo, onRaise }: Props) {
  const { run: state } = run.view;
  if (state.kind !== 'done') {
    if (run.busy) return <Empty>The result is shown here when the program ends.</Empty>;
    return (
      <Empty
        actions={
          <Button onClick={() => runCommand('run.start')}>
            Start <kbd aria-hidden>{showKeys('Mod+Enter', isMac)}</kbd>
          </Button>
        }
      >
        {state.kind === 'refused' ? state.message : 'No result yet. Run the program to see what it returns.'}
      </Empty>
    );
  }
  const { answer } = state;
  return (
    <div className={css.tab}>
      <div className={css.main}>
        {answer.error && <ErrorCard answer={answer} onGoTo={onGoTo} onRaise={onRaise} />}
        {(answer.success || answer.output !== null) && <Output answer={answer} />}
      </div>
      <div className={css.side}>
        <RunFacts answer={answer} />
      </div>
    </div>
  );
}

function Output({ answer }: { answer: RunAnswer }) {
  const { output } = answer;
  return (
    <section aria-label="Output value">
      <div className={css.head}>
        <h2>Output</h2>
        <Check state={answer.validation.output} />
        <span className={css.grow} />
        <CopyButton label="Copy the output as JSON" text={() => stringifyJson(output, 2)} />
      </div>
      <JsonTree value={output} />
    </section>
  );
}

function Check({ state }: { state: string }) {
  if (state !== 'passed' && state !== 'failed') return null;
  return (
    <span className={css.check} data-state={state}>
      {state === 'passed' ? <CircleCheck size={12} aria-hidden /> : <CircleX size={12} aria-hidden />}
      {state === 'passed' ? 'fits the output schema' : 'does not fit the output schema'}
    </span>
  );
}
