import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { isMissing } from '../../api/http';
import { stringifyJson } from '../../api/json';
import { keys } from '../../api/queries';
import type { Run, RunAnswer } from '../../api/types';
import { getRun } from '../../api/verbs';
import { agentUrl, pinnedOf, writeUrl } from '../../state/urlState';
import { Console } from '../../console/Console';
import { runPage as say } from '../../texts/runs';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Empty } from '../../ui/Empty';
import { Retry } from '../../ui/Retry';
import { Waiting } from '../../ui/Waiting';
import { JsonText } from '../../ui/JsonText';
import { Column, Page } from '../../frame/Page';
import { RunController, type RunState } from './controller';
import { hasEnded } from './history';
import { Output } from './Output';
import { RunFacts } from './RunFacts';
import { finalStatus } from '../../agent/runStatus';
import { stateText } from './runState';
import css from './RunPage.module.css';

/** The page of one run by ID, also for code without an agent: input, output, logs and resources. */
export function RunPage({ id }: { id: string }) {
  const [, navigate] = useLocation();
  const [controller] = useState(() => new RunController());
  const view = useSyncExternalStore(controller.subscribe, controller.get);
  const found = useQuery({ queryKey: keys.run(id), queryFn: () => getRun(id) });
  // Shown content stays if a refresh fails.
  const there = found.data !== undefined;
  useEffect(() => {
    document.title = say.pageTitle;
    if (there) void controller.attach(id);
    return () => controller.detach();
  }, [controller, id, there]);
  const run = ended(found.data) ?? view.run;
  const answer = run.kind === 'done' ? run.answer : undefined;
  const words = stateText(run, 0);
  return (
    <Page>
      <Column>
        {found.isError && !there && (
          <Empty
            actions={
              <>
                {!isMissing(found.error) && <Retry onRetry={() => void found.refetch()} />}
                <Button onClick={() => navigate('/runs')}>{say.allRuns}</Button>
              </>
            }
          >
            {say.notOpened(found.error.message)}
          </Empty>
        )}
        {found.isPending && <Waiting shape="page" what={say.theRun} retry />}
        {found.data && (
          <section className={css.section}>
            <div className={css.head}>
              <h1>{say.run}</h1>
              <p role="status" aria-label={say.runState} data-look={words?.look} className={css.state}>
                {words?.text}
              </p>
              {answer && <Where answer={answer} />}
            </div>
            {answer?.error && (
              <p className={css.error}>
                <strong>{finalStatus(answer).text}.</strong> {answer.error.message}
              </p>
            )}
            <div className={css.parts}>
              <div className={css.main}>
                <div>
                  <div className={css.bar}>
                    <h2>{say.input}</h2>
                    <CopyButton label={say.copyInputAsJson} text={() => stringifyJson(found.data.input, 2)} />
                  </div>
                  <pre className={css.json} tabIndex={0} role="region" aria-label={say.input}>
                    <JsonText text={stringifyJson(found.data.input, 2)} />
                  </pre>
                </div>
                {answer && (answer.success || answer.output !== null) && <Output key={answer.runId} answer={answer} />}
              </div>
              {answer && (
                <div className={css.side}>
                  <RunFacts answer={answer} />
                </div>
              )}
            </div>
            <section aria-label={say.console} className={css.console}>
              <Console ring={controller.ring} running={answer === undefined} onClear={() => controller.ring.clear()} />
            </section>
          </section>
        )}
      </Column>
    </Page>
  );
}

/** A finished run is shown at once; only its logs are still loading. */
function ended(run: Run | undefined): RunState | undefined {
  return run && hasEnded(run) ? { kind: 'done', runId: run.runId, answer: run } : undefined;
}

function Where({ answer: { runId, provenance } }: { answer: RunAnswer }) {
  const { agent, version } = provenance;
  if (agent === undefined || agent === '') return null;
  const pinned = pinnedOf(version);
  return (
    <Link href={agentUrl(agent, pinned) + writeUrl({ panel: 'result', run: runId })}>
      {pinned === undefined ? say.theDraftOf(agent) : `${agent}@${pinned}`}
    </Link>
  );
}
