import { Ellipsis, Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useAgents } from '../../api/queries';
import type { AgentSummary } from '../../api/types';
import { copyText } from '../../app/clipboard';
import { showDialog } from '../../app/dialogs';
import { notify } from '../../app/noticeStore';
import { agentUrl } from '../../app/urlState';
import { IconButton } from '../../ui/Button';
import { Menu } from '../../ui/Menu';
import panel from '../../ui/Panel.module.css';
import css from './AgentsPanel.module.css';
import { LanguageMark } from './LanguageMark';

/** Every agent, found by name, title or tag. */
export function AgentsPanel({ current }: { current?: string }) {
  const agents = useAgents();
  const [search, setSearch] = useState('');
  const found = (agents.data ?? []).filter((a) => matches(a, search));
  return (
    <section className={css.panel} aria-label="Agents">
      <div className={panel.head}>
        <h2 className={panel.title}>Agents</h2>
        <IconButton small label="New agent" onClick={() => showDialog({ kind: 'new' })}>
          <Plus size={16} aria-hidden />
        </IconButton>
      </div>
      <div className={css.search}>
        <Search size={14} aria-hidden />
        <input
          type="search"
          aria-label="Search agents"
          placeholder="Search"
          value={search}
          onChange={(e) => setSearch(e.target.value)}
          onKeyDown={(e) => e.key === 'Escape' && setSearch('')}
        />
      </div>
      <div className={css.list}>
        {agents.isError && <p className={css.none}>The agents could not be loaded. {agents.error.message}</p>}
        {agents.data?.length === 0 && <p className={css.none}>No agents yet.</p>}
        {search !== '' && found.length === 0 && <p className={css.none}>Nothing matches “{search}”.</p>}
        <Group title="Drafts" agents={found.filter((a) => a.state === 'draft')} current={current} />
        <Group title="Published" agents={found.filter((a) => a.state === 'published')} current={current} />
      </div>
    </section>
  );
}

function Group({ title, agents, current }: { title: string; agents: AgentSummary[]; current: string | undefined }) {
  if (agents.length === 0) return null;
  return (
    <>
      <h3 className={css.group}>
        {title} <span>{agents.length}</span>
      </h3>
      <ul>
        {agents.map((agent) => (
          <Row key={agent.id} agent={agent} current={agent.name === current} />
        ))}
      </ul>
    </>
  );
}

function Row({ agent, current }: { agent: AgentSummary; current: boolean }) {
  const { id, name, title, language, latestVersion, listed } = agent;
  return (
    <li className={css.row} data-current={current}>
      <Link href={agentUrl(name)} aria-current={current ? 'page' : undefined} title={title === '' ? name : title}>
        <LanguageMark language={language} />
        <span className={css.name}>{name}</span>
        {latestVersion !== '' && <span className={css.version}>{latestVersion}</span>}
      </Link>
      <Menu
        trigger={
          <IconButton small className={css.more} label={`Actions for ${name}`}>
            <Ellipsis size={16} aria-hidden />
          </IconButton>
        }
        entries={[
          { kind: 'item', label: 'Copy name', run: () => void copyName(name) },
          ...(latestVersion === ''
            ? []
            : [
                {
                  kind: 'item' as const,
                  label: listed ? 'Take out of the registry…' : 'List in the registry…',
                  run: () => setTimeout(() => showDialog({ kind: 'list', name, listed })),
                },
              ]),
          { kind: 'rule' },
          {
            kind: 'item',
            label: 'Delete…',
            danger: true,
            run: () => setTimeout(() => showDialog({ kind: 'delete', id, name })),
          },
        ]}
      />
    </li>
  );
}

function matches({ name, title, tags }: AgentSummary, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  return [name, title, ...tags].some((text) => text.toLowerCase().includes(wanted));
}

async function copyName(name: string): Promise<void> {
  if (await copyText(name)) notify('done', `Copied ${name}`);
}
