import { useQueries } from '@tanstack/react-query';
import { keys } from '../../api/queries';
import { stringifyJson, type Json } from '../../api/json';
import type { Run, RunSummary } from '../../api/types';
import { getRun } from '../../api/verbs';
import { common } from '../../texts/common';
import { compareRuns as say } from '../../texts/run';
import { bytes, milliseconds } from '../../texts/format';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { TextDiff } from '../../diff/TextDiff';
import css from './CompareRuns.module.css';
import { finalStatus } from '../../agent/runStatus';

/** Compares two runs: input, output, logs and resources. */
export function CompareRuns({ older, newer, onClose }: { older: RunSummary; newer: RunSummary; onClose: () => void }) {
  const found = useQueries({
    queries: [older, newer].map(({ runId }) => ({ queryKey: keys.run(runId), queryFn: () => getRun(runId) })),
  });
  const [a, b] = found;
  const failed = found.some(({ isLoadingError }) => isLoadingError);
  return (
    <Dialog wide title={say.title} onClose={onClose} foot={<Button onClick={onClose}>{common.done}</Button>}>
      {failed && <NotLoaded found={found} why={say.notLoaded} />}
      {a?.data && b?.data ? (
        <Both older={a.data} newer={b.data} />
      ) : (
        !failed && <Waiting shape="table" what={say.theRuns} retry />
      )}
    </Dialog>
  );
}

function Both({ older, newer }: { older: Run; newer: Run }) {
  return (
    <div className={css.both}>
      <table className={css.facts}>
        <thead>
          <tr>
            <th scope="col">{say.what}</th>
            <th scope="col">{say.sides.before}</th>
            <th scope="col">{say.sides.after}</th>
          </tr>
        </thead>
        <tbody>
          {facts.map(([label, of]) => {
            const [was, is] = [of(older), of(newer)];
            return (
              <tr key={label} data-differs={was !== is}>
                <th scope="row">{label}</th>
                <td>{was}</td>
                <td>{is}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Part title={say.input} path="input.json" older={older.input} newer={newer.input} />
      <Part title={say.output} path="output.json" older={older.output} newer={newer.output} />
      <Texts title={say.printed} path="printed.txt" before={older.stdout} after={newer.stdout} />
    </div>
  );
}

const facts: [string, (run: Run) => string][] = [
  [say.state, (run) => finalStatus(run).text],
  [say.version, (run) => text(run.provenance['version'])],
  [say.code, (run) => text(run.provenance['codeDigest']).replace('sha256:', '').slice(0, 12)],
  [say.runtime, (run) => text(run.provenance['runtime'])],
  [say.total, (run) => milliseconds(run.metrics.totalMs)],
  [say.cpu, (run) => milliseconds(run.metrics.cpuMs)],
  [say.peakMemory, (run) => bytes(run.metrics.peakMemoryBytes)],
];

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function Part({ title, path, older, newer }: { title: string; path: string; older: Json; newer: Json }) {
  return <Texts title={title} path={path} before={stringifyJson(older, 2)} after={stringifyJson(newer, 2)} />;
}

function Texts({ title, path, before, after }: { title: string; path: string; before: string; after: string }) {
  return (
    <section>
      <h3>{title}</h3>
      {before === after ? (
        <p>{say.theSame}</p>
      ) : (
        <TextDiff path={path} before={before} after={after} sides={say.sides} />
      )}
    </section>
  );
}
