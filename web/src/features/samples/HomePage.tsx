import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { explain } from '../../api/http';
import { useAgents, useSamples } from '../../api/queries';
import type { AgentSummary, Sample } from '../../api/types';
import { Brand, Grow, HeaderTools } from '../../app/Brand';
import { showDialog } from '../../app/dialogs';
import { ago } from '../../app/format';
import { ServerStatus } from '../../app/StatusLine';
import { agentUrl } from '../../app/urlState';
import { Workbench } from '../../app/Workbench';
import { Button } from '../../ui/Button';
import { Waiting } from '../../ui/Empty';
import { AgentsPanel } from '../agents/AgentsPanel';
import { languageNames } from '../agents/blank';
import { createFromSample } from '../agents/create';
import { LanguageMark } from '../agents/LanguageMark';
import css from './HomePage.module.css';

/** Where everyone begins: what there is, and what to begin with. */
export function HomePage() {
  const agents = useAgents();
  useEffect(() => {
    document.title = 'Atelier Studio';
  }, []);
  return (
    <Workbench
      header={
        <>
          <Brand />
          <Grow />
          <HeaderTools />
        </>
      }
      left={
        <div style={{ display: 'flex', height: '100%' }}>
          <AgentsPanel />
        </div>
      }
      main={
        <div className={css.page}>
          <div className={css.inner}>
            {agents.data && agents.data.length > 0 && <Recent agents={agents.data} />}
            <Samples first={agents.data?.length === 0} />
          </div>
        </div>
      }
      status={<ServerStatus />}
    />
  );
}

function Recent({ agents }: { agents: AgentSummary[] }) {
  const [now] = useState(() => Date.now());
  const recent = [...agents].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt)).slice(0, 8);
  return (
    <section>
      <h1>Recent agents</h1>
      <div className={css.recent}>
        {recent.map((a) => (
          <Link key={a.id} href={agentUrl(a.name)}>
            <LanguageMark language={a.language} />
            <span>{a.name}</span>
            <span className={css.quiet}>{a.description === '' ? a.title : a.description}</span>
            <span>{a.latestVersion === '' ? 'Draft' : a.latestVersion}</span>
            <span className={css.when}>{ago(a.updatedAt, now)}</span>
          </Link>
        ))}
      </div>
    </section>
  );
}

function Samples({ first }: { first: boolean }) {
  const samples = useSamples();
  const [, navigate] = useLocation();
  const [state, setState] = useState<{ kind: 'idle' } | { kind: 'busy' } | { kind: 'failed'; message: string }>({
    kind: 'idle',
  });
  const open = async (sample: Sample): Promise<void> => {
    setState({ kind: 'busy' });
    try {
      const agent = await createFromSample(sample);
      navigate(agentUrl(agent.name));
    } catch (error) {
      setState({ kind: 'failed', message: explain(error) });
    }
  };
  const Title = first ? 'h1' : 'h2';
  return (
    <section style={{ display: 'grid', gap: 12 }}>
      <div>
        <Title>Start with a sample</Title>
        <p className={css.lead}>
          A code agent is a small program with typed input and output. Opening a sample makes a draft of your own: run
          it, change it, publish it, export it as a tool.
        </p>
      </div>
      {state.kind === 'failed' && (
        <p role="alert" className={css.error}>
          The sample could not be opened. {state.message}
        </p>
      )}
      {samples.isPending && <Waiting what="the samples" onRetry={() => void samples.refetch()} />}
      {samples.isError && <p className={css.error}>The samples could not be loaded. {samples.error.message}</p>}
      <ul className={css.samples}>
        {samples.data?.map((sample) => (
          <li key={sample.name}>
            <button
              className={css.card}
              type="button"
              disabled={state.kind === 'busy'}
              onClick={() => void open(sample)}
            >
              <strong>{sample.title}</strong>
              <span>{sample.description}</span>
              <small>{languageNames[sample.language]} · network: off</small>
            </button>
          </li>
        ))}
      </ul>
      <div className={css.blank}>
        <Button onClick={() => showDialog({ kind: 'new' })}>Blank agent…</Button>
        in TypeScript, JavaScript, Python or Bash
        <Button onClick={() => navigate('/registry')}>Public registry</Button>
      </div>
    </section>
  );
}
