import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { explain } from '../../api/http';
import { refreshToolSets, useToolSet } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { SetTool, ToolSet } from '../../api/types';
import { deleteToolSet } from '../../api/verbs';
import { Column, Page } from '../../frame/Page';
import { notify } from '../../state/notices';
import { agentUrl } from '../../state/urlState';
import { ago } from '../../texts/format';
import { toolSets as say } from '../../texts/toolSets';
import { Button } from '../../ui/Button';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { ConnectDialog } from './ConnectDialog';
import { ToolSetDialog } from './ToolSetDialog';
import css from './ToolSets.module.css';

/** Shows one tool set: its pinned versions, and whether each is deprecated, deleted or outdated. */
export function ToolSetPage({ name }: { name: string }) {
  const found = useToolSet(name);
  useEffect(() => {
    document.title = say.setTitle(name);
  }, [name]);
  return (
    <Page>
      <Column>
        <section className={entries.section}>
          <Link href="/tool-sets">{say.back}</Link>
          {found.isPending && <Waiting shape="page" what={say.theSet} retry />}
          <NotLoaded found={found} why={say.setNotLoaded} />
          {found.data && <Loaded set={found.data} />}
        </section>
      </Column>
    </Page>
  );
}

function Loaded({ set }: { set: ToolSet }) {
  const { name, title, description, tools, updatedAt, updatedBy } = set;
  const { mayAnywhere } = useRights();
  const [, navigate] = useLocation();
  const [now] = useState(() => Date.now());
  const [open, setOpen] = useState<'connect' | 'edit' | 'remove'>();
  const close = (): void => setOpen(undefined);
  const bad = tools.filter((tool) => tool.deprecated === true || tool.missing === true).length;
  const remove = async (): Promise<void> => {
    try {
      await deleteToolSet(name);
      notify('done', say.removed(name));
      navigate('/tool-sets');
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshToolSets();
  };
  return (
    <>
      <div className={entries.head}>
        <div>
          <h1>{title === '' ? name : title}</h1>
          {description !== '' && <p className={entries.lead}>{description}</p>}
          <p className={entries.lead}>
            {title !== '' && `${name} · `}
            {say.changed(ago(updatedAt, now), updatedBy)}
          </p>
        </div>
        <div className={entries.acts}>
          {mayAnywhere('write') && (
            <>
              <Button ref={leaveFocus} onClick={() => setOpen('remove')}>
                {say.remove}
              </Button>
              <Button ref={leaveFocus} onClick={() => setOpen('edit')}>
                {say.edit}
              </Button>
            </>
          )}
          <Button ref={leaveFocus} look="primary" onClick={() => setOpen('connect')}>
            {say.connect}
          </Button>
        </div>
      </div>
      {bad > 0 && (
        <p role="status" className={css.attention}>
          {say.attention(bad)}
        </p>
      )}
      <DataTable
        label={say.tools}
        items={tools}
        columns={columns}
        rowKey={({ agentId }) => agentId}
        words={({ name: tool, version, reason = '' }) => [tool, version, reason].join(' ')}
      />
      {open === 'connect' && <ConnectDialog kind="set" name={name} agents={agentsOf(tools)} onClose={close} />}
      {open === 'edit' && <ToolSetDialog set={set} taken={[]} onClose={close} />}
      {open === 'remove' && (
        <ConfirmDialog
          title={say.removeTitle(name)}
          about={say.removeAbout}
          verb={say.removeVerb}
          onClose={close}
          onConfirm={() => void remove()}
        />
      )}
    </>
  );
}

/** The agents that a token for the set must reach. The server accepts at most 100 for a token. */
function agentsOf(tools: readonly SetTool[]): { id: string; name: string }[] {
  return tools.filter((tool) => tool.missing !== true).map(({ agentId, name }) => ({ id: agentId, name }));
}

const columns: TableColumn<SetTool>[] = [
  {
    key: 'tool',
    title: say.tool,
    by: ({ name }) => name,
    cell: ({ name, version, missing }) =>
      missing === true ? (
        <strong>{name}</strong>
      ) : (
        <strong>
          <Link href={agentUrl(name, version)}>{name}</Link>
        </strong>
      ),
  },
  { key: 'version', title: say.version, cell: ({ version }) => version },
  {
    key: 'state',
    title: say.state,
    by: (tool) => (tool.missing === true ? 0 : tool.deprecated === true ? 1 : tool.newest !== undefined ? 2 : 3),
    cell: (tool) => <State tool={tool} />,
  },
  {
    key: 'digest',
    title: say.digest,
    cell: ({ digest }) => (
      <code className={css.digest} title={digest}>
        {digest.slice(0, 19)}…
      </code>
    ),
  },
];

function State({ tool: { missing, deprecated, reason = '', successor = '', newest } }: { tool: SetTool }) {
  if (missing === true) return <span className={css.bad}>{say.missing}</span>;
  if (deprecated !== true) return newest === undefined ? say.current : say.newer(newest);
  return (
    <>
      <span className={css.bad}>{reason === '' ? say.deprecated : say.deprecatedWhy(reason)}</span>
      {successor !== '' && <small>{say.useInstead(successor)}</small>}
      {successor === '' && newest !== undefined && <small>{say.newer(newest)}</small>}
    </>
  );
}
