import { useLocation } from 'wouter';
import { useSamples } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Sample } from '../../api/types';
import { showDialog } from '../../app/dialogs';
import { agentUrl, listUrl } from '../../app/urlState';
import { Button } from '../../ui/Button';
import { Waiting } from '../../ui/Empty';
import { Fault } from '../../ui/Fault';
import { useTask } from '../../ui/useTask';
import { languageNames } from '../agents/blank';
import { createFromSample } from '../agents/create';
import css from './Samples.module.css';

/** Programs to begin with; opening one makes a draft of one's own. */
export function Samples({ first }: { first: boolean }) {
  const samples = useSamples();
  const { may } = useRights();
  const [, navigate] = useLocation();
  const task = useTask();
  const open = (sample: Sample): void =>
    task.run(async () => {
      const agent = await createFromSample(sample);
      navigate(agentUrl(agent.name));
    });
  const Title = first ? 'h1' : 'h2';
  return (
    <section className={css.section}>
      <div>
        <Title>Start with a sample</Title>
        <p className={css.lead}>
          A code agent is a small program with typed input and output. Opening a sample makes a draft of your own: run
          it, change it, publish it, export it as a tool.
        </p>
      </div>
      <Fault message={task.fault === undefined ? undefined : `The sample could not be opened. ${task.fault}`} />
      {samples.isPending && <Waiting what="the samples" onRetry={() => void samples.refetch()} />}
      <Fault message={samples.isError ? `The samples could not be loaded. ${samples.error.message}` : undefined} />
      <ul className={css.samples}>
        {samples.data?.map((sample) => (
          <li key={sample.name}>
            <button className={css.card} type="button" disabled={task.busy} onClick={() => open(sample)}>
              <strong>{sample.title}</strong>
              <span>{sample.description}</span>
              <small>{languageNames[sample.language]} · network: off</small>
            </button>
          </li>
        ))}
      </ul>
      <div className={css.blank}>
        <Button onClick={() => showDialog({ kind: 'new' })}>Blank agent…</Button>
        <Button onClick={() => navigate('/registry')}>Public registry</Button>
        <Button onClick={() => navigate('/skills')}>Skills</Button>
        {may('approve') && <Button onClick={() => showDialog({ kind: 'import' })}>Import an archive…</Button>}
        {first && <Button onClick={() => navigate(listUrl({ state: 'deleted' }))}>Deleted agents</Button>}
      </div>
    </section>
  );
}
