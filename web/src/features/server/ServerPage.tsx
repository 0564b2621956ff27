import { useEffect } from 'react';
import { basePath } from '../../api/base';
import { useCapabilities, useRuntimes } from '../../api/queries';
import type { Capabilities, RuntimeState } from '../../api/types';
import { bytes, milliseconds } from '../../app/format';
import { Waiting } from '../../ui/Empty';
import { Fault } from '../../ui/Fault';
import { languageNames } from '../agents/blank';
import { Column, Page } from '../agents/Page';
import css from './ServerPage.module.css';

/** What this server can run, how busy its engines are, and how well they are walled in. */
export function ServerPage() {
  useEffect(() => {
    document.title = 'Server · Atelier';
  }, []);
  const capabilities = useCapabilities();
  return (
    <Page>
      <Column>
        <h1>Server</h1>
        <Engines />
        <Fault
          message={
            capabilities.isError ? `What it can do could not be loaded. ${capabilities.error.message}` : undefined
          }
        />
        {capabilities.data && (
          <>
            <Jail sandbox={capabilities.data.sandbox} />
            <Missing capabilities={capabilities.data} />
            <Limits limits={capabilities.data.limits} />
          </>
        )}
        <section className={css.section} aria-labelledby="about">
          <h2 id="about">About</h2>
          <p className={css.lead}>
            The Studio asks nothing of any other host.{' '}
            <a href={`${basePath}/studio/third-party.txt`}>Third-party notices</a> ·{' '}
            <a href={`${basePath}/docs`}>The API</a>
          </p>
        </section>
      </Column>
    </Page>
  );
}

function Engines() {
  const runtimes = useRuntimes();
  return (
    <section className={css.section} aria-labelledby="engines">
      <h2 id="engines">Engines</h2>
      {runtimes.isPending && <Waiting what="the engines" onRetry={() => void runtimes.refetch()} />}
      <Fault message={runtimes.isError ? `The engines could not be asked. ${runtimes.error.message}` : undefined} />
      {runtimes.data && (
        <div className={css.scroll} tabIndex={0} role="region" aria-label="Engines">
          <table className={css.table}>
            <thead>
              <tr>
                <th scope="col">Engine</th>
                <th scope="col">State</th>
                <th scope="col">Running</th>
                <th scope="col">Waiting</th>
                <th scope="col">Prepared</th>
                <th scope="col">Started</th>
                <th scope="col">Died</th>
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
      <td className={ready ? css.ok : css.warn}>{ready ? 'Ready' : 'Not ready'}</td>
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
      <h2 id="jail">Sandbox</h2>
      <p className={missing.length === 0 ? css.ok : css.warn}>
        {missing.length === 0
          ? `Level ${level}: every wall stands.`
          : `Level ${level}: this machine lacks ${missing.join(', ')}.`}
      </p>
      <p className={css.lead}>
        <code>atelier doctor</code> runs hostile programs against every wall and limit of this machine and says what
        held.
      </p>
    </section>
  );
}

/** Languages that cannot run here, and what would change that. */
function Missing({ capabilities }: { capabilities: Capabilities }) {
  const missing = capabilities.languages.flatMap(({ language, engines }) =>
    (engines ?? [])
      .filter((e) => !e.available)
      .map(({ runtime, reason }) => ({ key: `${language} ${runtime}`, language, runtime, reason })),
  );
  if (missing.length === 0) return null;
  return (
    <section className={css.section} aria-labelledby="missing">
      <h2 id="missing">What cannot run here</h2>
      <ul>
        {missing.map(({ key, language, runtime, reason }) => (
          <li key={key}>
            {languageNames[language]} in {runtime}. {reason}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Limits({ limits: { defaults, ceilings } }: { limits: Capabilities['limits'] }) {
  const rows: [string, (value: typeof defaults) => string][] = [
    ['Time', (l) => milliseconds(l.timeoutMs)],
    ['CPU time', (l) => milliseconds(l.cpuMs)],
    ['Memory', (l) => bytes(l.memoryBytes)],
    ['Processes', (l) => String(l.processes)],
    ['Output', (l) => bytes(l.outputBytes)],
    ['Disk', (l) => bytes(l.diskBytes)],
  ];
  return (
    <section className={css.section} aria-labelledby="limits">
      <h2 id="limits">Limits of a run</h2>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">Limit</th>
            <th scope="col">Unless said</th>
            <th scope="col">At most</th>
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
