import { useId, useState } from 'react';
import { Link } from 'wouter';
import { ApiError, explain } from '../../api/http';
import { parseJson, stringifyJson, type Json } from '../../api/json';
import { keys, queryClient } from '../../api/queries';
import type { RunAnswer } from '../../api/types';
import { call } from '../../api/verbs';
import { closeDialog } from '../../state/dialogs';
import { milliseconds } from '../../texts/format';
import { agentUrl, writeUrl } from '../../state/urlState';
import { faultSentence } from '../../schema/locate';
import { tryTool as say } from '../../texts/tool';
import { Button } from '../../ui/Button';
import { Fault } from '../../ui/Fault';
import { JsonText } from '../../ui/JsonText';
import { finalStatus } from '../../agent/runStatus';
import css from './ExportDialog.module.css';

type Tried =
  | { kind: 'unanswered' }
  | { kind: 'calling' }
  | { kind: 'failed'; message: string }
  | { kind: 'answered'; answer: RunAnswer };

/** The text of the error that a model would read to correct its arguments. */
function reasonOf(error: unknown): string {
  const fields = error instanceof ApiError ? error.fields : [];
  return [explain(error), ...fields.map(({ pointer, message }) => `${pointer}: ${message}`)].join(' ');
}

/** Calls the version like any other client, with arguments that a model wrote. */
export function TryTool({ name, version, example }: { name: string; version: string; example: Json }) {
  const id = useId();
  const [text, setText] = useState(() => stringifyJson(example, 2));
  const [tried, setTried] = useState<Tried>({ kind: 'unanswered' });
  const go = async (): Promise<void> => {
    let input: Json;
    try {
      input = parseJson(text);
    } catch {
      return setTried({ kind: 'failed', message: faultSentence(text) });
    }
    setTried({ kind: 'calling' });
    try {
      setTried({ kind: 'answered', answer: await call(name, version, input) });
      void queryClient.invalidateQueries({ queryKey: keys.runs(name) });
    } catch (error) {
      setTried({ kind: 'failed', message: reasonOf(error) });
    }
  };
  return (
    <details className={css.use}>
      <summary>{say.tryItAsATool}</summary>
      <div className={css.try}>
        <label htmlFor={id}>{say.argumentsAsAModelWould}</label>
        <textarea id={id} rows={5} spellCheck={false} value={text} onChange={(e) => setText(e.target.value)} />
        <div>
          <Button disabled={tried.kind === 'calling'} onClick={() => void go()}>
            {tried.kind === 'calling' ? say.calling : say.call(name, version)}
          </Button>
        </div>
        <div role="status" aria-label={say.answerOfTheTool}>
          {tried.kind === 'answered' && <Answer name={name} version={version} answer={tried.answer} />}
        </div>
        <Fault message={tried.kind === 'failed' ? tried.message : undefined} />
      </div>
    </details>
  );
}

function Answer({ name, version, answer }: { name: string; version: string; answer: RunAnswer }) {
  const { runId, success, output, error, metrics } = answer;
  return (
    <>
      <p className={css.hint}>
        {say.ended(
          finalStatus(answer).text,
          milliseconds(metrics.totalMs),
          <Link href={agentUrl(name, version) + writeUrl({ panel: 'result', run: runId })} onClick={closeDialog}>
            {say.openTheRun}
          </Link>,
        )}
      </p>
      <pre className={css.answer} tabIndex={0} role="region" aria-label={say.whatTheToolReturned}>
        {success ? <JsonText text={stringifyJson(output, 2)} /> : (error?.message ?? say.theProgramDidNotSucceed)}
      </pre>
    </>
  );
}
