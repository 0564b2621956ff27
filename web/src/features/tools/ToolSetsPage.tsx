import { Plug } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { serverUrl } from '../../api/base';
import { useToolSets } from '../../api/queries';
import { useRights } from '../../api/rights';
import { Column, Page } from '../../frame/Page';
import { ago } from '../../texts/format';
import { toolSets as say } from '../../texts/toolSets';
import type { ToolSet } from '../../api/types';
import { Amount } from '../../ui/Amount';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { Steps } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { ConnectDialog } from './ConnectDialog';
import { ToolSetDialog } from './ToolSetDialog';
import css from './ToolSets.module.css';
import { agentsOf } from './toolState';

/** Lists all tool sets of the workspace. */
export function ToolSetsPage() {
  const found = useToolSets();
  const { mayAnywhere } = useRights();
  const [now] = useState(() => Date.now());
  const [open, setOpen] = useState<'new' | 'connect'>();
  const sets = found.data ?? [];
  const close = (): void => setOpen(undefined);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <section className={entries.section}>
          <div className={entries.head}>
            <div>
              <h1>{say.toolSets}</h1>
              <p className={entries.lead}>{say.lead(<code>/mcp/sets/NAME</code>)}</p>
            </div>
            <div className={entries.acts}>
              <Button ref={leaveFocus} onClick={() => setOpen('connect')}>
                {say.connectAll}
              </Button>
              {mayAnywhere('write') && (
                <Button ref={leaveFocus} look="primary" onClick={() => setOpen('new')}>
                  {say.newSet}
                </Button>
              )}
            </div>
          </div>
          {found.isPending && <Waiting shape="rows" what={say.theSets} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          {found.isSuccess && sets.length === 0 && (
            <Steps title={say.none}>
              {say.makeIt(<code>atelier toolset put NAME REF…</code>)}
              {say.connectIt}
              {say.keepIt}
            </Steps>
          )}
          {sets.length > 0 && (
            <DataTable
              label={say.toolSets}
              items={sets}
              columns={columnsOf(now, sets.length > 1 ? Math.max(...sets.map(({ tools }) => tools.length)) : 0)}
              rowKey={({ id }) => id}
              words={({ name, title, description }) => `${name} ${title} ${description}`}
            />
          )}
          {open === 'new' && <ToolSetDialog taken={sets.map(({ name }) => name)} onClose={close} />}
          {open === 'connect' && <ConnectDialog kind="all" name="" agents={[]} onClose={close} />}
        </section>
      </Column>
    </Page>
  );
}

const addressOf = (name: string): string => `/mcp/sets/${name}`;

const columnsOf = (now: number, most: number): TableColumn<ToolSet>[] => [
  {
    key: 'name',
    title: say.set,
    by: ({ name, title }) => (title === '' ? name : title),
    cell: ({ name, title, description }) => (
      <>
        <strong>
          <Link href={`/tool-sets/${encodeURIComponent(name)}`}>{title === '' ? name : title}</Link>
        </strong>
        {description !== '' && <small>{description}</small>}
      </>
    ),
  },
  {
    key: 'address',
    title: say.address,
    by: ({ name }) => name,
    cell: ({ name }) => (
      <span className={css.address}>
        <code>{addressOf(name)}</code>
        <CopyButton text={serverUrl() + addressOf(name)} label={say.copyAddress(name)} />
      </span>
    ),
  },
  {
    key: 'tools',
    title: say.tools,
    by: ({ tools }) => -tools.length,
    cell: ({ tools }) => (
      <>
        <Amount value={tools.length} most={most} />
        <small>{say.named(tools.map(({ name }) => name))}</small>
      </>
    ),
  },
  {
    key: 'changed',
    title: say.lastChange,
    by: ({ updatedAt }) => -Date.parse(updatedAt),
    cell: ({ updatedAt, updatedBy }) => (
      <>
        {ago(updatedAt, now)}
        <small>{updatedBy}</small>
      </>
    ),
  },
  { key: 'acts', title: say.actions, acts: true, cell: (set) => <Connect set={set} /> },
];

function Connect({ set: { name, tools } }: { set: ToolSet }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button ref={leaveFocus} aria-label={say.connectNamed(name)} onClick={() => setOpen(true)}>
        <Plug size={14} aria-hidden />
        {say.connect}
      </Button>
      {open && <ConnectDialog kind="set" name={name} agents={agentsOf(tools)} onClose={() => setOpen(false)} />}
    </>
  );
}
