import { CircleX } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { explain } from '../../api/http';
import { useRights } from '../../api/rights';
import { cancelTask, decideTask, refreshTasks, retryTask, useTaskDiff, useTaskOrder } from '../../api/tasks';
import type { Task } from '../../api/types';
import { Column, Page } from '../../frame/Page';
import { usePhone } from '../../state/layout';
import { notify } from '../../state/notices';
import { agentUrl } from '../../state/urlState';
import { ago, moment } from '../../texts/format';
import { projectsPage } from '../../texts/projects';
import { tasksPage as say } from '../../texts/tasks';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { NotLoaded } from '../../ui/NotLoaded';
import { useTask } from '../../ui/useTask';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import bar from '../../diff/Bar.module.css';
import { DecideAll, Differences, type Decide } from '../../diff/Differences';
import { moving } from './columns';
import { Events } from './Events';
import { Program } from './Program';
import css from './Tasks.module.css';
import { TaskState } from './TaskState';

/** Shows one task: its events, and its changes, which the user accepts or rejects. */
export function TaskPage({ id }: { id: string }) {
  const found = useTaskOrder(id);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column back={{ to: '/tasks', label: say.back }}>
        {found.isPending && <Waiting shape="page" what={say.theTask} retry />}
        <NotLoaded found={found} why={say.notLoaded} />
        {found.data && <Shown task={found.data} />}
      </Column>
    </Page>
  );
}

function Shown({ task }: { task: Task }) {
  const { id, title, agent, version, description, program, project, status, attempt } = task;
  const { error, runId, overlayId, feedback, summary, creator, createdAt } = task;
  const [now] = useState(() => Date.now());
  const work =
    description === undefined ? <Link href={agentUrl(agent, version)}>{`${agent}@${version}`}</Link> : say.described;
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const { may, why } = useRights();
  const runs = may('run');
  const phone = usePhone();
  const act = async (work: () => Promise<unknown>, message: string): Promise<void> => {
    setBusy(true);
    try {
      await work();
      notify('done', message);
    } catch (fault) {
      notify('failed', explain(fault));
    }
    setBusy(false);
    await refreshTasks();
  };
  const decide: Decide = (decision, files) =>
    void act(
      () => decideTask(id, decision, found.data?.overlay.revision, files),
      decision === 'accept' ? projectsPage.accepted : projectsPage.rejected,
    );
  const off = { disabled: busy || !runs, title: runs ? undefined : why('run') };
  const found = useTaskDiff(id, task.revision, overlayId);
  const waiting = status === 'reviewing' && found.data?.overlay.status === 'open' ? found.data : undefined;
  return (
    <section className={entries.section}>
      <div className={entries.head}>
        <div className={entries.title}>
          <h1>{title}</h1>
          <p className={entries.facts}>
            <span role="status">
              <TaskState status={status} />
            </span>
            <span>{work}</span>
            <span>
              <Link href={`/projects/${encodeURIComponent(project)}`}>{say.inProject(project)}</Link>
            </span>
            {attempt > 1 && <span>{say.attempt(attempt)}</span>}
            <span title={moment(createdAt)}>{say.submitted(creator.name, ago(createdAt, now))}</span>
            {runId !== undefined && <Link href={`/runs/${encodeURIComponent(runId)}`}>{say.openRun}</Link>}
          </p>
        </div>
        <div className={entries.acts}>
          {moving(status) ? (
            <Button {...off} onClick={() => void act(() => cancelTask(id), say.cancelled)}>
              {say.cancel}
            </Button>
          ) : (
            status !== 'accepted' && (
              <Button {...off} onClick={() => setAsking(true)}>
                {say.retry}
              </Button>
            )
          )}
          {waiting && !phone && <DecideAll diff={waiting} busy={busy} decide={decide} />}
        </div>
      </div>
      {waiting && <p className={entries.lead}>{say.aboutReview(<strong>{project}</strong>)}</p>}
      {error && (
        <p role="alert" className={css.error}>
          <CircleX size={16} aria-hidden />
          {error.remedy === undefined ? error.message : `${error.message} ${error.remedy}`}
        </p>
      )}
      {description !== undefined && description !== title && <p className={entries.lead}>{description}</p>}
      {feedback !== '' && (
        <p className={entries.lead}>
          {say.feedback}: {feedback}
        </p>
      )}
      {overlayId !== undefined && (
        <>
          <div>
            <h2>{say.changes}</h2>
            {summary !== '' && summary !== title && <p className={entries.lead}>{summary}</p>}
          </div>
          {found.isPending && <Waiting shape="rows" what={projectsPage.theChange} retry />}
          <NotLoaded found={found} why={projectsPage.notLoaded} />
          {found.data && (
            <Differences diff={found.data} busy={busy} decide={decide} fixed={task.status !== 'reviewing'} />
          )}
        </>
      )}
      {program && <Program program={program} />}
      <Events key={task.id} task={task} />
      {waiting && phone && (
        <div className={bar.bar} data-bar="decide">
          <DecideAll diff={waiting} busy={busy} decide={decide} />
        </div>
      )}
      {asking && <RetryDialog id={id} described={description !== undefined} onClose={() => setAsking(false)} />}
    </section>
  );
}

interface RetryProps {
  id: string;
  described: boolean;
  onClose: () => void;
}

function RetryDialog({ id, described, onClose }: RetryProps) {
  const [feedback, setFeedback] = useState('');
  const work = useTask();
  const submit = (): void =>
    work.run(async () => {
      await retryTask(id, feedback);
      notify('done', say.retried);
      await refreshTasks();
      work.leadOn(onClose);
    });
  return (
    <FormDialog
      title={say.retry}
      about={described ? say.rewriteAbout : say.retryAbout}
      verb={say.retry}
      busy={work.busy}
      fault={work.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={say.feedback} hint={described ? say.rewriteHint : say.feedbackHint}>
        {(control) => (
          <textarea {...control} rows={4} autoFocus value={feedback} onChange={(e) => setFeedback(e.target.value)} />
        )}
      </Field>
    </FormDialog>
  );
}
