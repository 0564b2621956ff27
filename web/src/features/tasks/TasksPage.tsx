import { useEffect, useState, type KeyboardEvent } from 'react';
import { Link } from 'wouter';
import { useRights } from '../../api/rights';
import { useTasks } from '../../api/tasks';
import type { Task } from '../../api/types';
import { Column, Page } from '../../frame/Page';
import { ago, moment } from '../../texts/format';
import { tasksPage as say } from '../../texts/tasks';
import { Button } from '../../ui/Button';
import { NotLoaded } from '../../ui/NotLoaded';
import { Steps } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { columnNames, columnsOf, type ColumnName } from './columns';
import { NewTaskDialog } from './NewTaskDialog';
import css from './Tasks.module.css';
import { TaskState } from './TaskState';

/** Shows the board of tasks, with a column for each state. */
export function TasksPage() {
  const found = useTasks();
  const [adding, setAdding] = useState(false);
  const { may, why } = useRights();
  const allowed = may('run');
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column wide>
        <section className={entries.section}>
          <div className={entries.head}>
            <div>
              <h1>{say.tasks}</h1>
              <p className={entries.lead}>{say.lead}</p>
            </div>
            <Button
              look="primary"
              disabled={!allowed}
              title={allowed ? undefined : why('run')}
              onClick={() => setAdding(true)}
            >
              {say.newTaskButton}
            </Button>
          </div>
          {found.isPending && <Waiting shape="rows" what={say.theTasks} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          {found.data &&
            (found.data.items.length === 0 ? (
              <Steps title={say.none}>
                {say.importIt(<code>atelier project import NAME DIR</code>)}
                {say.submitIt}
                {say.decideIt}
              </Steps>
            ) : (
              <Board tasks={found.data.items} />
            ))}
          {found.data?.more === true && <p className={entries.lead}>{say.kept}</p>}
        </section>
      </Column>
      {adding && <NewTaskDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}

/**
 * Moves the focus between the cards: up and down in a column, and left and right to the next column that has a card.
 */
function step(e: KeyboardEvent<HTMLElement>): void {
  const sideways = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  const along = { ArrowUp: -1, ArrowDown: 1 }[e.key];
  if ((sideways === undefined && along === undefined) || !(e.target instanceof HTMLElement)) return;
  const lists = [...e.currentTarget.querySelectorAll('ul')].map((list) => [...list.querySelectorAll('a')]);
  const column = lists.findIndex((links) => links.some((link) => link === e.target));
  const row = lists[column]?.findIndex((link) => link === e.target) ?? -1;
  if (row < 0) return;
  const filled = lists.filter((links) => links.length > 0);
  const next =
    along !== undefined
      ? lists[column]?.[row + along]
      : filled[filled.findIndex((links) => links === lists[column]) + (sideways ?? 0)]?.at(0);
  if (next === undefined) return;
  e.preventDefault();
  next.focus();
}

function Board({ tasks }: { tasks: Task[] }) {
  const columns = columnsOf(tasks);
  return (
    <div className={css.board} onKeyDown={step}>
      {columnNames.map((name) => (
        <Lane key={name} name={name} tasks={columns[name]} />
      ))}
    </div>
  );
}

function Lane({ name, tasks }: { name: ColumnName; tasks: Task[] }) {
  return (
    <section className={css.lane} aria-label={say.columns[name]} data-empty={tasks.length === 0}>
      <h2>
        {say.columns[name]} <span>{tasks.length}</span>
      </h2>
      {tasks.length === 0 ? (
        <p>{say.noneHere}</p>
      ) : (
        <ul>
          {tasks.map((task) => (
            <li key={task.id}>
              <Card task={task} column={name} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Card({ task, column }: { task: Task; column: ColumnName }) {
  const { id, title, agent, project, status, priority, files, updatedAt, error, summary, creator } = task;
  const more = error?.message ?? summary;
  const several = column === 'working' || column === 'decided';
  const detail = files > 0 ? [say.files(files)] : column === 'queued' ? [say.priorityOf(priority)] : [];
  const [now] = useState(() => Date.now());
  return (
    <Link className={css.card} href={`/tasks/${encodeURIComponent(id)}`}>
      <strong>{title}</strong>
      <small>{say.on(agent === '' ? say.described : agent, project)}</small>
      {more !== '' && more !== title && <small className={error ? css.failed : undefined}>{more}</small>}
      {several && (
        <small>
          <TaskState status={status} />
        </small>
      )}
      <small title={moment(updatedAt)}>{[...detail, creator.name, ago(updatedAt, now)].join(' · ')}</small>
    </Link>
  );
}
