import { Code, Package, Play, Plug, ShieldCheck } from 'lucide-react';
import { useLocation } from 'wouter';
import { useSamples } from '../../api/queries';
import type { Sample } from '../../api/types';
import { showDialog } from '../../state/dialogs';
import { agentUrl, listUrl } from '../../state/urlState';
import { samples as say } from '../../texts/samples';
import { Button } from '../../ui/Button';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { Fault } from '../../ui/Fault';
import { useTask } from '../../ui/useTask';
import { LanguageMark } from '../../agent/LanguageMark';
import { createFromSample } from '../../agent/create';
import css from './Samples.module.css';

const path = [
  { icon: Code, ...say.path.write },
  { icon: Play, ...say.path.run },
  { icon: Package, ...say.path.publish },
  { icon: Plug, ...say.path.use },
];

/** Lists sample programs. Opening a sample creates a draft. */
export function Samples({ first }: { first: boolean }) {
  const samples = useSamples();
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
      <div className={css.head}>
        <div>
          <Title>{say.startWithASample}</Title>
          <p className={css.lead}>{say.lead}</p>
        </div>
        {first && (
          <Button look="primary" onClick={() => showDialog({ kind: 'new' })}>
            {say.newAgent}
          </Button>
        )}
      </div>
      <Fault message={task.fault === undefined ? undefined : say.notOpened(task.fault)} />
      {samples.isPending && <Waiting shape="cards" what={say.theSamples} retry />}
      <NotLoaded found={samples} why={say.notLoaded} />
      <ul className={css.samples}>
        {samples.data?.map((sample) => (
          <li key={sample.name}>
            <button className={css.card} type="button" disabled={task.busy} onClick={() => open(sample)}>
              <strong>
                {sample.title}
                <LanguageMark language={sample.language} />
              </strong>
              <span>{sample.description}</span>
              <small>
                <ShieldCheck size={14} aria-hidden />
                {say.offline}
              </small>
            </button>
          </li>
        ))}
      </ul>
      {first && !samples.isPending && (
        <>
          <h2 className={css.how}>{say.howItGoes}</h2>
          <ol className={css.path}>
            {path.map(({ icon: Icon, title, text }) => (
              <li key={title}>
                <Icon size={16} aria-hidden />
                <strong>{title}</strong>
                <span>{text}</span>
              </li>
            ))}
          </ol>
          <div>
            <Button look="link" onClick={() => navigate(listUrl({ state: 'deleted' }))}>
              {say.deletedAgents}
            </Button>
          </div>
        </>
      )}
    </section>
  );
}
