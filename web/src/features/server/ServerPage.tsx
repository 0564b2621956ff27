import { useEffect } from 'react';
import { useCapabilities, useRuntimes } from '../../api/queries';
import type { Capabilities, RuntimeState } from '../../api/types';
import { bytes, milliseconds } from '../../texts/format';
import { serverPage as say } from '../../texts/server';
import { classes } from '../../ui/classes';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { languageNames } from '../../agent/starters';
import { Column, Page } from '../../frame/Page';
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
        <h1>{say.server}</h1>
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
        <div className={css.scroll} tabIndex={0} role="region" aria-label={say.engines}>
          <table className={classes(css.table, css.engines)}>
            <thead>
              <tr>
                <th scope="col">{say.engine}</th>
                <th scope="col">{say.state}</th>
                <th scope="col">{say.running}</th>
                <th scope="col">{say.waiting}</th>
                <th scope="col">{say.prepared}</th>
                <th scope="col">{say.started}</th>
                <th scope="col">{say.died}</th>
              </tr>
            </thead>
            <tbody>
              {runtimes.data.map((engine) => (
                <Engine key={`${engine.runtime} ${engine.language}`} engine={engine} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Engine({ engine: { runtime, language, ready, queue, workers } }: { engine: RuntimeState }) {
  return (
    <tr>
      <th scope="row">
        {runtime} <span className={css.quiet}>{languageNames[language]}</span>
      </th>
      <td className={ready ? css.ok : css.warn}>{ready ? say.ready : say.notReady}</td>
      <td>{queue.running}</td>
      <td>{queue.depth}</td>
      <td>
        {workers.idle}
        {workers.preparing > 0 && ` +${workers.preparing}`}
      </td>
      <td>{workers.started}</td>
      <td className={workers.died > 0 ? css.warn : undefined}>{workers.died}</td>
    </tr>
  );
}

function Jail({ sandbox: { level, missing } }: { sandbox: Capabilities['sandbox'] }) {
  return (
    <section className={css.section} aria-labelledby="jail">
      <h2 id="jail">{say.sandbox}</h2>
      <p className={missing.length === 0 ? css.ok : css.warn}>
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
