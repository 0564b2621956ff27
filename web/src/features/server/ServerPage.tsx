import { CircleCheck, CircleMinus, ShieldAlert, ShieldCheck, TriangleAlert } from 'lucide-react';
import { useEffect } from 'react';
import { useCapabilities, useRuntimes } from '../../api/queries';
import type { Capabilities, RuntimeState } from '../../api/types';
import { bytes, milliseconds, number } from '../../texts/format';
import { serverPage as say } from '../../texts/server';
import { classes } from '../../ui/classes';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { Quoted } from '../../ui/Quoted';
import { Waiting } from '../../ui/Waiting';
import { languageNames } from '../../agent/starters';
import { Column, Page } from '../../frame/Page';
import { enginesOf, reasonsOf, unavailableOf, type EngineRow } from './engines';
import { LoadPicture } from './LoadPicture';
import css from './ServerPage.module.css';

/** Shows the server: its engines, their load and the isolation. */
export function ServerPage() {
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const capabilities = useCapabilities();
  return (
    <Page>
      <Column>
        <div className={css.head}>
          <h1>{say.server}</h1>
          <p className={css.lead}>{say.lead}</p>
        </div>
        {capabilities.data && <Missing languages={capabilities.data.languages} />}
        <LoadPicture />
        <Engines languages={capabilities.data?.languages} />
        <NotLoaded found={capabilities} why={say.notLoaded} />
        {capabilities.isPending && <Waiting shape="table" what={say.theLimits} retry />}
        {capabilities.data && (
          <>
            <Jail sandbox={capabilities.data.sandbox} />
            <Limits limits={capabilities.data.limits} />
          </>
        )}
      </Column>
    </Page>
  );
}

function Engines({ languages }: { languages: Capabilities['languages'] | undefined }) {
  const runtimes = useRuntimes();
  const rows = enginesOf(runtimes.data?.items ?? []);
  const away = rows.filter(({ ready }) => !ready);
  return (
    <section className={css.section} aria-labelledby="engines">
      <div className={css.head}>
        <h2 id="engines">{say.engines}</h2>
        <p className={css.lead}>{say.aboutEngines}</p>
      </div>
      {runtimes.isPending && <Waiting shape="table" what={say.theEngines} retry />}
      <NotLoaded found={runtimes} why={say.notAsked} />
      {runtimes.data && (
        <>
          <Legend />
          <div className={css.engines}>
            <DataTable
              label={say.engines}
              items={rows.filter(({ ready }) => ready)}
              columns={columns}
              rowKey={({ runtime }) => runtime}
            />
          </div>
        </>
      )}
      {away.length > 0 && <Away engines={away} reasons={reasonsOf(languages ?? [])} />}
    </section>
  );
}

const columns: TableColumn<EngineRow>[] = [
  {
    key: 'engine',
    title: say.engine,
    by: ({ runtime }) => runtime,
    cell: ({ runtime, languages }) => (
      <>
        <strong>{runtime}</strong>
        <small>{namesOf(languages)}</small>
      </>
    ),
  },
  {
    key: 'state',
    title: say.state,
    cell: () => (
      <StateMark look="ok" icon={CircleCheck}>
        {say.ready}
      </StateMark>
    ),
  },
  { key: 'workers', title: say.workers, cell: ({ workers }) => <Workers workers={workers} /> },
  {
    key: 'running',
    title: say.running,
    numeric: true,
    by: ({ queue }) => queue.running,
    cell: ({ queue }) => number(queue.running),
  },
  {
    key: 'waiting',
    title: say.waiting,
    numeric: true,
    by: ({ workers }) => workers.waiting,
    cell: ({ workers: { waiting } }) => <Warned value={waiting} />,
  },
  {
    key: 'prepared',
    title: say.prepared,
    numeric: true,
    by: ({ workers }) => workers.idle,
    cell: ({ workers: { idle, preparing } }) =>
      preparing > 0 ? `${number(idle)} +${number(preparing)}` : number(idle),
  },
  {
    key: 'started',
    title: say.started,
    numeric: true,
    by: ({ workers }) => workers.started,
    cell: ({ workers }) => number(workers.started),
  },
  {
    key: 'died',
    title: say.died,
    numeric: true,
    by: ({ workers }) => workers.died,
    cell: ({ workers: { died } }) => <Warned value={died} />,
  },
];

const namesOf = (languages: EngineRow['languages']): string =>
  languages.map((language) => languageNames[language]).join(', ');

const Warned = ({ value }: { value: number }) => (
  <span className={value > 0 ? css.warn : undefined}>{number(value)}</span>
);

/** Lists the engines that are not available on this server, each with the reason. */
function Away({ engines, reasons }: { engines: EngineRow[]; reasons: Map<string, string> }) {
  return (
    <div className={css.away}>
      <h3 id="away">{say.notReadyHere}</h3>
      <ul aria-labelledby="away">
        {engines.map(({ runtime, languages }) => (
          <li key={runtime}>
            <CircleMinus size={14} aria-hidden />
            <span>
              <strong>{runtime}</strong> <small>{namesOf(languages)}</small>
            </span>
            <p>
              <Quoted text={reasons.get(runtime) ?? say.notReady} />
            </p>
          </li>
        ))}
      </ul>
    </div>
  );
}

/**
 * Shows the workers of an engine as a bar with three parts: busy, being prepared, ready. The columns next to the bar
 * contain the numbers.
 */
function Workers({ workers: { busy, preparing, idle } }: { workers: RuntimeState['workers'] }) {
  if (busy + preparing + idle === 0) return <span className={css.quiet}>{say.noWorkers}</span>;
  return (
    <span className={css.bar} title={say.workersAre(busy, preparing, idle)} aria-hidden>
      <span className={css.busy} style={{ flexGrow: busy }} />
      <span className={css.preparing} style={{ flexGrow: preparing }} />
      <span className={css.idle} style={{ flexGrow: idle }} />
    </span>
  );
}

/** The colours of the bars of workers. */
function Legend() {
  return (
    <p className={css.legend} aria-hidden>
      <span>{say.workers}:</span>
      <span>
        <i className={css.busy} /> {say.busy}
      </span>
      <span>
        <i className={css.preparing} /> {say.beingPrepared}
      </span>
      <span>
        <i className={css.idle} /> {say.idle}
      </span>
    </p>
  );
}

function Jail({ sandbox: { level, missing } }: { sandbox: Capabilities['sandbox'] }) {
  return (
    <section className={css.section} aria-labelledby="jail">
      <h2 id="jail">{say.sandbox}</h2>
      <p className={classes(css.level, missing.length === 0 ? css.ok : css.warn)}>
        {missing.length === 0 ? <ShieldCheck size={16} aria-hidden /> : <ShieldAlert size={16} aria-hidden />}
        {missing.length === 0 ? say.everyWall(level) : say.lacks(level, missing.join(', '))}
      </p>
      <p className={css.lead}>{say.doctor(<code>atelier doctor</code>)}</p>
    </section>
  );
}

/** Lists the languages that no engine of this server can run, with the fix. */
function Missing({ languages }: { languages: Capabilities['languages'] }) {
  const missing = unavailableOf(languages);
  if (missing.length === 0) return null;
  return (
    <section className={css.missing} aria-labelledby="missing">
      <h2 id="missing">
        <TriangleAlert size={16} aria-hidden />
        {say.unavailableLanguages}
      </h2>
      <dl>
        {missing.map(({ languages: names, reasons }) => (
          <div key={names.join()}>
            <dt>{namesOf(names)}</dt>
            {reasons.map(({ runtime, reason }) => (
              <dd key={runtime}>
                <Quoted text={runtime === undefined ? reason : say.because(runtime, reason)} />
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </section>
  );
}

function Limits({ limits: { defaults, ceilings } }: { limits: Capabilities['limits'] }) {
  const rows: [string, (value: typeof defaults) => string][] = [
    [say.time, (l) => milliseconds(l.timeoutMs)],
    [say.cpuTime, (l) => milliseconds(l.cpuMs)],
    [say.memory, (l) => bytes(l.memoryBytes)],
    [say.processes, (l) => String(l.processes)],
    [say.output, (l) => bytes(l.outputBytes)],
    [say.disk, (l) => bytes(l.diskBytes)],
    [say.recursion, (l) => number(l.recursionDepth)],
  ];
  return (
    <section className={css.section} aria-labelledby="limits">
      <h2 id="limits">{say.limitsOfARun}</h2>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">{say.limit}</th>
            <th scope="col">{say.unlessSaid}</th>
            <th scope="col">{say.atMost}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([label, of]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{of(defaults)}</td>
              <td>{of(ceilings)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
