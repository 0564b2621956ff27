import { useState } from 'react';
import { explain } from '../../api/http';
import { useRuns } from '../../api/queries';
import { getRun } from '../../api/verbs';
import { ago, milliseconds } from '../../app/format';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { Empty, Waiting } from '../../ui/Empty';
import { useOpenAgent } from '../agents/openAgent';
import css from './HistoryTab.module.css';
import type { RunHandle } from './useRun';
import { finalWords } from './words';

/** The last runs of this agent; each can be looked at again, and its input used again. */
export function HistoryTab({ run }: { run: RunHandle }) {
  const { name } = useOpenAgent();
  const runs = useRuns(name);
  const [now] = useState(() => Date.now());

  const reuse = async (runId: string): Promise<void> => {
    try {
      const { input } = await getRun(runId);
      run.changeInput({ do: 'replace', value: input });
      notify('done', 'The input of that run is in the form');
    } catch (error) {
      notify('failed', `The input could not be fetched. ${explain(error)}`);
    }
  };

  if (runs.isPending) return <Waiting what="the runs" onRetry={() => void runs.refetch()} />;
  if (runs.isError) return <Empty>The runs could not be loaded. {runs.error.message}</Empty>;
  if (runs.data.length === 0) return <Empty>No runs yet.</Empty>;
  return (
    <div className={css.list}>
      <table>
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Version</th>
            <th scope="col">Time</th>
            <th scope="col">When</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.data.map((r) => {
            const { word, look } = finalWords(r);
            return (
              <tr key={r.runId}>
                <td className={css[look]}>{word}</td>
                <td>{r.version === '' ? 'draft' : r.version}</td>
                <td>{milliseconds(r.totalMs)}</td>
                <td className={css.quiet}>{ago(r.createdAt, now)}</td>
                <td>
                  <Button look="link" onClick={() => run.open(r.runId)}>
                    Show
                  </Button>{' '}
                  <Button look="link" onClick={() => void reuse(r.runId)}>
                    Use its input
                  </Button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
