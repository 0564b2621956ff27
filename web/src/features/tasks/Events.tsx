import { CircleCheck, LoaderCircle } from 'lucide-react';
import { useEffect, useLayoutEffect, useReducer, useRef } from 'react';
import { followRun } from '../../api/stream';
import { followTask, refreshTask, type TaskEvent } from '../../api/tasks';
import type { RunEvent, Task } from '../../api/types';
import { milliseconds, timeOfDay } from '../../texts/format';
import { tasksPage as say } from '../../texts/tasks';
import { moving } from './columns';
import css from './Tasks.module.css';
import { taskMarks } from './TaskState';

/** Shows the events of a task, and those of its program while it runs. New events appear immediately. */
export function Events({ task }: { task: Task }) {
  const events = useEvents(task);
  const { runId, status } = task;
  return (
    <div className={css.story}>
      <h2>{say.events}</h2>
      <ol className={css.events} aria-label={say.events} aria-live="polite">
        {events.map((event, n) => {
          const failed = event.kind === 'attempt';
          const { look, icon } = markOf(event);
          const last = n === events.length - 1;
          const turns = last && moving(status) && status !== 'queued';
          const next = events[n + 1];
          // A step is done when a step follows that is no failure.
          const done = look === 'quiet' && next !== undefined && markOf(next).look !== 'err';
          const Icon = turns ? LoaderCircle : done ? CircleCheck : icon;
          return (
            <li key={event.seq} data-look={look} data-turning={turns}>
              <Icon size={16} aria-hidden />
              <div>
                <strong>{stateOf(event)}</strong>
                <p>{failed ? event.data.error : event.data.message}</p>
              </div>
              <small>
                {timeOfDay(event.at)}
                {next && ` · ${milliseconds(Math.max(0, Date.parse(next.at) - Date.parse(event.at)))}`}
              </small>
            </li>
          );
        })}
      </ol>
      {runId !== undefined && <Output key={runId} runId={runId} live={moving(status)} />}
    </div>
  );
}

const markOf = (event: TaskEvent) => (event.kind === 'attempt' ? taskMarks.errored : taskMarks[event.data.status]);

const stateOf = (event: TaskEvent): string =>
  event.kind === 'attempt' ? say.answer(event.data.n) : say.states[event.data.status];

/** Adds an event if it is new. After a reconnection the server may send some events again. */
const add = (all: TaskEvent[], event: TaskEvent): TaskEvent[] =>
  event.seq > (all.at(-1)?.seq ?? 0) ? [...all, event] : all;

function useEvents({ id, attempt, updatedAt }: Task): TaskEvent[] {
  const [events, accept] = useReducer(add, []);
  const latest = useRef({ seq: 0, updatedAt });
  useLayoutEffect(() => {
    latest.current = { seq: events.at(-1)?.seq ?? 0, updatedAt };
  });
  // The stream ends when the task ends. Another attempt opens a new stream, which starts after the known events.
  useEffect(
    () =>
      followTask(id, latest.current.seq, (event) => {
        accept(event);
        // Events that happened before the task was read contain no news about the task.
        const isNew = Date.parse(event.at) > Date.parse(latest.current.updatedAt);
        if (event.kind === 'status' && isNew) void refreshTask(id);
      }),
    [id, attempt],
  );
  return events;
}

interface Shown {
  log: { seq: number; text: string }[];
  progress?: { done: number; total: number; message?: string };
}

const mostLines = 50;

const show = (shown: Shown, batch: RunEvent[]): Shown =>
  batch.reduce<Shown>((so, event) => {
    if (event.kind === 'progress') return { ...so, progress: event.data };
    if (event.kind !== 'log') return so;
    return { ...so, log: [...so.log, { seq: event.seq, text: event.data.message }].slice(-mostLines) };
  }, shown);

/** Shows the log and the progress of the program. */
function Output({ runId, live }: { runId: string; live: boolean }) {
  const [{ log, progress }, accept] = useReducer(show, { log: [] });
  useEffect(() => followRun(runId, { events: accept, state: () => undefined }), [runId]);
  if (log.length === 0 && progress === undefined) return null;
  return (
    <>
      {live && progress && (
        <label className={css.progress}>
          {progress.message ?? say.progress}
          <progress value={progress.done} max={progress.total} />
        </label>
      )}
      {log.length > 0 && (
        <>
          <h3>{say.log}</h3>
          <ol className={css.log} aria-label={say.log}>
            {log.map(({ seq, text }) => (
              <li key={seq}>{text}</li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}
