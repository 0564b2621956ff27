import { CircleCheck, ShieldAlert, ShieldCheck, TriangleAlert } from 'lucide-react';
import { useEffect } from 'react';
import { useCapabilities, useRuntimes } from '../../api/queries';
import type { Capabilities, RuntimeState } from '../../api/types';
import { bytes, milliseconds, number } from '../../texts/format';
import { serverPage as say } from '../../texts/server';
import { classes } from '../../ui/classes';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { languageNames } from '../../agent/starters';
import { Column, Page } from '../../frame/Page';
import { LoadPicture } from './LoadPicture';
import css from './ServerPage.module.css';

/** The server: its engines, their load and the isolation. */
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
        <LoadPicture />
        <Engines />
        <NotLoaded found={capabilities} why={say.notLoaded} />
        {capabilities.isPending && <Waiting shape="table" what={say.theLimits} retry />}
        {capabilities.data && (
          <>
            <Jail sandbox={capabilities.data.sandbox} />
            <Missing capabilities={capabilities.data} />
            <Limits limits={capabilities.data.limits} />
          </>
        )}
      </Column>
    </Page>
  );
}

function Engines() {
  const runtimes = useRuntimes();
  return (
    <section className={css.section} aria-labelledby="engines">
      <h2 id="engines">{say.engines}</h2>
      {runtimes.isPending && <Waiting shape="table" what={say.theEngines} retry />}
      <NotLoaded found={runtimes} why={say.notAsked} />
      {runtimes.data && (
        <div className={css.scroll} tabIndex={0} role="group" aria-label={say.engines}>
          <table className={classes(css.table, css.engines)}>
            <thead>
              <tr>
                <th scope="col">{say.engine}</th>
                <th scope="col">{say.state}</th>
                <th scope="col">{say.workers}</th>
                <th scope="col">{say.running}</th>
                <th scope="col">{say.waiting}</th>
                <th scope="col">{say.prepared}</th>
                <th scope="col">{say.started}</th>
                <th scope="col">{say.died}</th>
              </tr>
            </thead>
            <tbody>
              {enginesOf(runtimes.data.items).map((engine) => (
                <Engine key={engine.runtime} engine={engine} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** An engine with all its languages: they share its workers, so their counters are the same. */
type Shared = Omit<RuntimeState, 'language'> & { languages: RuntimeState['language'][] };

function enginesOf(states: RuntimeState[]): Shared[] {
  const found = new Map<string, Shared>();
  for (const { language, ...state } of states) {
    const known = found.get(state.runtime);
    if (known) known.languages.push(language);
    else found.set(state.runtime, { ...state, languages: [language] });
  }
  return [...found.values()];
}

function Engine({ engine: { runtime, languages, ready, queue, workers } }: { engine: Shared }) {
  return (
    <tr>
      <th scope="row">
        {runtime} <span className={css.quiet}>{languages.map((language) => languageNames[language]).join(', ')}</span>
      </th>
      <td className={ready ? css.ok : css.warn}>
        <span className={css.state}>
          {ready ? <CircleCheck size={14} aria-hidden /> : <TriangleAlert size={14} aria-hidden />}
          {ready ? say.ready : say.notReady}
        </span>
      </td>
      <td>
        <Workers workers={workers} />
      </td>
      <td>{queue.running}</td>
      <td className={queue.depth > 0 ? css.warn : undefined}>{queue.depth}</td>
      <td>
        {workers.idle}
        {workers.preparing > 0 && ` +${workers.preparing}`}
      </td>
      <td>{workers.started}</td>
      <td className={workers.died > 0 ? css.warn : undefined}>{workers.died}</td>
    </tr>
  );
}

/** The workers of an engine as a bar: busy, being prepared, ready. The columns next to it have the numbers. */
function Workers({ workers: { busy, preparing, idle } }: { workers: RuntimeState['workers'] }) {
  return (
    <span className={css.bar} title={say.workersAre(busy, preparing, idle)} aria-hidden>
      {busy + preparing + idle === 0 && <span className={css.empty} style={{ flexGrow: 1 }} />}
      <span className={css.busy} style={{ flexGrow: busy }} />
      <span className={css.preparing} style={{ flexGrow: preparing }} />
      <span className={css.idle} style={{ flexGrow: idle }} />
    </span>
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

/** Languages that cannot run here, with the fix. */
function Missing({ capabilities }: { capabilities: Capabilities }) {
  const missing = capabilities.languages.flatMap(({ language, engines }) =>
    (engines ?? [])
      .filter((e) => !e.available)
      .map(({ runtime, reason }) => ({ key: `${language} ${runtime}`, language, runtime, reason })),
  );
  if (missing.length === 0) return null;
  return (
    <section className={css.section} aria-labelledby="missing">
      <h2 id="missing">{say.unavailableLanguages}</h2>
      <ul>
        {missing.map(({ key, language, runtime, reason }) => (
          <li key={key}>{say.cannotRun(languageNames[language], runtime, reason)}</li>
        ))}
      </ul>
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
