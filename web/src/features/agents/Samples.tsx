import { ArrowRight, Code, Package, Play, Plug } from 'lucide-react';
import { useLocation } from 'wouter';
import { useAgentListing } from '../../api/listing';
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
import { createFromSample } from '../../agent/create';
import { LanguageMark } from '../../agent/LanguageMark';
import css from './Samples.module.css';

const path = [
  { icon: Code, ...say.path.write },
  { icon: Play, ...say.path.run },
  { icon: Package, ...say.path.publish },
  { icon: Plug, ...say.path.use },
];

/** Lists sample programs. Opening a sample creates a draft. If they come first on the page, they also welcome the user. */
export function Samples({ first }: { first: boolean }) {
  const samples = useSamples();
  const [, navigate] = useLocation();
  const task = useTask();
  const open = (sample: Sample): void =>
    task.run(async () => {
      const agent = await createFromSample(sample);
      navigate(agentUrl(agent.name));
    });
  return (
    <section className={css.section}>
      {first && (
        <div className={css.head}>
          <div>
            <h1>{say.welcome}</h1>
            <p className={css.lead}>{say.welcomeLead}</p>
          </div>
          <Button look="primary" onClick={() => showDialog({ kind: 'new' })}>
            {say.newAgent}
          </Button>
        </div>
      )}
      <div>
        <h2>{say.startWithASample}</h2>
        <p className={css.lead}>{say.lead}</p>
      </div>
      <Fault message={task.fault === undefined ? undefined : say.notOpened(task.fault)} />
      {samples.isPending && <Waiting shape="cards" what={say.theSamples} retry />}
      <NotLoaded found={samples} why={say.notLoaded} />
      <ul className={css.samples} aria-label={say.startWithASample}>
        {samples.data?.map((sample) => (
          <li key={sample.name}>
            <button className={css.card} type="button" disabled={task.busy} onClick={() => open(sample)}>
              <strong>{sample.title}</strong>
              <LanguageMark language={sample.language} />
              <ArrowRight size={16} aria-hidden />
              <span className={css.about}>{sample.description}</span>
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
          <DeletedAgents />
        </>
      )}
    </section>
  );
}

/** A link to the deleted agents, if there are any. */
function DeletedAgents() {
  const [, navigate] = useLocation();
  const deleted = useAgentListing({ state: 'deleted' });
  if (deleted.kind !== 'loaded' || deleted.items.length === 0) return null;
  return (
    <div>
      <Button look="link" onClick={() => navigate(listUrl({ state: 'deleted' }))}>
        {say.deletedAgents}
      </Button>
    </div>
  );
}
