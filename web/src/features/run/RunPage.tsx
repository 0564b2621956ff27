import { useQuery } from '@tanstack/react-query';
import { CircleAlert, FileCode } from 'lucide-react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { isMissing } from '../../api/http';
import { stringifyJson } from '../../api/json';
import { keys } from '../../api/queries';
import type { Run, RunAnswer } from '../../api/types';
import { getRun } from '../../api/verbs';
import { agentUrl, pinnedOf, writeUrl } from '../../state/urlState';
import { Console } from '../../console/Console';
import { notOpened } from '../../texts/agents';
import { moment } from '../../texts/format';
import { runPage as say, runsPage } from '../../texts/runs';
import { Button } from '../../ui/Button';
import button from '../../ui/Button.module.css';
import { classes } from '../../ui/classes';
import { CopyButton } from '../../ui/CopyButton';
import { Empty } from '../../ui/Empty';
import { Retry } from '../../ui/Retry';
import { Summary } from '../../ui/Summary';
import { StateMark } from '../../ui/StateMark';
import { Waiting } from '../../ui/Waiting';
import { JsonText } from '../../ui/JsonText';
import { Column, Page } from '../../frame/Page';
import { Calls } from './Calls';
import { RunController, type RunState } from './controller';
import { hasEnded } from './history';
import { Output } from './Output';
import { RunActions } from './RunActions';
import { RunFacts } from './RunFacts';
import { runIcons } from '../../agent/RunMark';
import { finalStatus } from '../../agent/runStatus';
import { stateText } from './runState';
import css from './RunPage.module.css';

/**
 * Shows the page of one run by its ID: input, output, logs and resources. The run may be one of inline code, without an
 * agent.
 */
export function RunPage({ id }: { id: string }) {
  const [, navigate] = useLocation();
  const [controller] = useState(() => new RunController());
  const view = useSyncExternalStore(controller.subscribe, controller.get);
  const found = useQuery({ queryKey: keys.run(id), queryFn: () => getRun(id) });
  // If a refresh fails, the shown content stays.
  const there = found.data !== undefined;
  useEffect(() => {
    if (there) void controller.attach(id);
    return () => controller.detach();
  }, [controller, id, there]);
  const { data } = found;
  const run = ended(data) ?? view.run;
  const answer = run.kind === 'done' ? run.answer : undefined;
  useEffect(() => {
    document.title = data ? say.pageTitle(titleOf(data), finalStatus(answer ?? data).text) : say.emptyTitle;
  }, [data, answer]);
  const words = stateText(run, 0);
  return (
    <Page>
      <Column back={{ to: '/runs', label: say.allRuns }}>
        {found.isError && !there && (
          <Empty
            title={isMissing(found.error) ? notOpened.notFound : notOpened.couldNotOpen}
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
            <div className={css.top}>
              <div className={css.head}>
                <h1>{titleOf(found.data)}</h1>
                <p role="status" aria-label={say.runState}>
                  {words && (
                    <StateMark
                      look={words.look}
                      icon={runIcons[answer?.status ?? found.data.status]}
                      turning={run.kind === 'running'}
                    >
                      {words.text}
                    </StateMark>
                  )}
                </p>
              </div>
            </div>
            {answer?.error && <Failure answer={answer} error={answer.error} />}
            <RunActions run={found.data} first={answer === undefined || placeOf(answer) === undefined} />
            <About run={found.data} />
            <div className={css.parts}>
              <div className={css.main}>
                <div>
                  <div className={css.bar}>
                    <h2>{say.input}</h2>
                    {!found.data.withheld && (
                      <CopyButton label={say.copyInputAsJson} text={() => stringifyJson(found.data.input, 2)} />
                    )}
                  </div>
                  {found.data.withheld ? (
                    <p>{say.withheld}</p>
                  ) : (
                    <pre className={css.json} tabIndex={0} role="region" aria-label={say.input}>
                      <JsonText text={stringifyJson(found.data.input, 2)} />
                    </pre>
                  )}
                </div>
                {answer && <Calls key={`calls ${answer.runId}`} answer={answer} />}
                {answer && !answer.withheld && (answer.success || answer.output !== null) && (
                  <Output key={answer.runId} answer={answer} framed />
                )}
                <Printed controller={controller} running={answer === undefined} />
              </div>
              {answer && (
                <div className={css.side}>
                  <RunFacts answer={answer} />
                </div>
              )}
            </div>
          </section>
        )}
      </Column>
    </Page>
  );
}

/**
 * Shows the output streams of the program, with a height that fits their lines. A program without such output has no
 * console.
 */
function Printed({ controller, running }: { controller: RunController; running: boolean }) {
  const { ring } = controller;
  const stream = useSyncExternalStore(controller.subscribe, controller.get).stream;
  useSyncExternalStore(ring.subscribe, ring.getChanges);
  const lines = ring.length;
  const [printed, setPrinted] = useState(false); // the value stays true if the user clears the console
  if (lines > 0 && !printed) setPrinted(true);
  // Whether the program printed something is known only after its events were read.
  if (!printed && !running && stream !== 'ended' && stream !== 'reconnecting') return null;
  return (
    <section aria-label={say.console} className={css.printed}>
      <h2>{say.console}</h2>
      {!printed && !running && stream === 'ended' ? (
        <p className={css.silent}>{say.printedNothing}</p>
      ) : (
        <div className={css.console} style={{ height: running ? mostHeight : Math.min(mostHeight, 64 + 18 * lines) }}>
          <Console ring={ring} running={running} onClear={() => ring.clear()} />
        </div>
      )}
    </section>
  );
}

const mostHeight = 320;

/** A finished run is shown immediately. Only its logs are still being loaded. */
function ended(run: Run | undefined): RunState | undefined {
  return run && hasEnded(run) ? { kind: 'done', runId: run.runId, answer: run } : undefined;
}

const titleOf = ({ provenance, language }: Run): string =>
  provenance.agent === undefined || provenance.agent === '' ? say.inlineRun(language) : say.runOf(provenance.agent);

/** Shows the time, the person and the program of the run. */
function About({ run }: { run: Run }) {
  return (
    <dl className={css.about} aria-label={say.facts}>
      <div>
        <dt>{say.started}</dt>
        <dd>
          <time dateTime={run.createdAt}>{moment(run.createdAt)}</time>
        </dd>
      </div>
      <div>
        <dt>{say.by}</dt>
        <dd>{run.by.name}</dd>
      </div>
      <div>
        <dt>{say.source}</dt>
        <dd>{runsPage.sources[run.trigger] ?? run.trigger}</dd>
      </div>
      <Where run={run} />
    </dl>
  );
}

function Where({ run: { runId, provenance, draftRevision = 0 } }: { run: Run }) {
  const { agent, version } = provenance;
  if (agent === undefined || agent === '') return null;
  const pinned = pinnedOf(version);
  return (
    <div>
      <dt>{say.program}</dt>
      <dd>
        <Link href={agentUrl(agent, pinned) + writeUrl({ panel: 'result', run: runId })}>
          {pinned === undefined ? `${agent}, ${say.draft(draftRevision)}` : `${agent}@${pinned}`}
        </Link>
      </dd>
    </div>
  );
}

/** Returns the line of the error, if the program of an agent failed there. */
function placeOf({ error, provenance, runId }: RunAnswer): { label: string; url: string } | undefined {
  const { agent = '', version } = provenance;
  const { file, line } = error ?? {};
  if (agent === '' || file === undefined || line === undefined) return undefined;
  return {
    label: say.openLine(file, line),
    url:
      agentUrl(agent, pinnedOf(version)) +
      writeUrl({ tab: { kind: 'file', path: file }, line, panel: 'result', run: runId }),
  };
}

/** Shows the error with a button that opens its line, and the stack. */
function Failure({ answer, error }: { answer: RunAnswer; error: NonNullable<RunAnswer['error']> }) {
  const { stack, remedy } = error;
  const place = placeOf(answer);
  return (
    <div className={css.error} role="region" aria-label={say.error}>
      <CircleAlert size={16} aria-hidden />
      <p>{error.message}</p>
      {remedy !== undefined && <p>{remedy}</p>}
      {place && (
        <div>
          <Link href={place.url} className={classes(button.button, button.primary)}>
            <FileCode size={14} aria-hidden />
            {place.label}
          </Link>
        </div>
      )}
      {stack !== undefined && stack !== '' && (
        <details open>
          <Summary>{say.stack}</Summary>
          <pre tabIndex={0}>{stack}</pre>
        </details>
      )}
    </div>
  );
}
