import { ArrowUpCircle, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { serverUrl } from '../../api/base';
import { explain } from '../../api/http';
import { refreshToolSets, useToolSet } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { SetTool, ToolSet } from '../../api/types';
import { deleteToolSet, putToolSet } from '../../api/verbs';
import { Column, Page } from '../../frame/Page';
import { notify } from '../../state/notices';
import { agentUrl } from '../../state/urlState';
import { ago } from '../../texts/format';
import { toolSets as say } from '../../texts/toolSets';
import { Button } from '../../ui/Button';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { classes } from '../../ui/classes';
import { CopyButton } from '../../ui/CopyButton';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { ConnectDialog } from './ConnectDialog';
import { ToolSetDialog } from './ToolSetDialog';
import css from './ToolSets.module.css';
import { agentsOf, mayUpdate, stateLooks, toolStateOf, toolStates, updated, type ToolState } from './toolState';
import { ToolShares } from './ToolShares';

/** Shows one tool set: its pinned versions, and whether each version is deprecated, deleted or outdated. */
export function ToolSetPage({ name }: { name: string }) {
  const found = useToolSet(name);
  const title = found.data?.title || name;
  useEffect(() => {
    document.title = say.setTitle(title);
  }, [title]);
  return (
    <Page>
      <Column back={{ to: '/tool-sets', label: say.back }}>
        <section className={entries.section}>
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
  const [open, setOpen] = useState<'connect' | 'edit' | 'remove' | 'update'>();
  const close = (): void => setOpen(undefined);
  const count = (state: ToolState): number => tools.filter((tool) => toolStateOf(tool) === state).length;
  const bad = count('deprecated') + count('missing');
  const references = updated(tools);
  const changed = references.filter(
    (reference) => !tools.some(({ name: tool, version }) => reference === `${tool}@${version}`),
  );
  const old = tools.some((tool) => toolStateOf(tool) !== 'newest');
  const updates = old && references.length > 0 && mayUpdate(tools);
  const update = async (): Promise<void> => {
    try {
      await putToolSet(name, { title, description, references });
      notify('done', say.updated(name));
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshToolSets();
  };
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
          <p className={entries.facts}>
            <span className={css.address}>
              <code>{addressOf(name)}</code>
              <CopyButton text={`${serverUrl()}${addressOf(name)}`} label={say.copyAddress(name)} />
            </span>
            <span>{say.changed(ago(updatedAt, now), updatedBy)}</span>
          </p>
        </div>
        <div className={classes(entries.acts, css.headActs)}>
          {mayAnywhere('write') && (
            <>
              <Button ref={leaveFocus} look="quiet" onClick={() => setOpen('remove')}>
                {say.remove}
              </Button>
              <Button ref={leaveFocus} onClick={() => setOpen('edit')}>
                {say.edit}
              </Button>
            </>
          )}
          <Button ref={leaveFocus} {...(updates ? {} : { look: 'primary' })} onClick={() => setOpen('connect')}>
            {say.connect}
          </Button>
        </div>
      </div>
      <ToolShares label={say.statesOf(name)} tools={tools} />
      {old && (
        <div className={css.attention} data-look={bad > 0 ? 'warn' : 'quiet'}>
          <div role="status">
            <StateMark look={bad > 0 ? 'warn' : 'quiet'} icon={bad > 0 ? TriangleAlert : ArrowUpCircle}>
              {say.attention(count('deprecated'), count('missing'), count('outdated'))}
            </StateMark>
            <p>{updates ? say.updateAdvice : say.editAdvice}</p>
          </div>
          {updates && mayAnywhere('write') && (
            <Button ref={leaveFocus} look="primary" onClick={() => setOpen('update')}>
              <ArrowUpCircle size={14} aria-hidden />
              {say.update(changed.length === 1 ? changed[0] : undefined)}
            </Button>
          )}
        </div>
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
      {open === 'update' && (
        <ConfirmDialog
          title={say.updateTitle(name)}
          about={`${references.join(', ')}. ${say.updateAbout}`}
          verb={say.updateVerb}
          harmless
          onClose={close}
          onConfirm={() => void update()}
        />
      )}
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
    by: (tool) => toolStates.indexOf(toolStateOf(tool)),
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

function State({ tool }: { tool: SetTool }) {
  const { reason = '', successor = '', newest } = tool;
  const state = toolStateOf(tool);
  const words: Record<ToolState, string> = {
    missing: say.missing,
    deprecated: reason === '' ? say.deprecated : say.deprecatedWhy(reason),
    outdated: say.newer(newest ?? ''),
    newest: say.current,
  };
  return (
    <>
      <StateMark {...stateLooks[state]}>{words[state]}</StateMark>
      {state === 'deprecated' && successor !== '' && <small>{say.useInstead(successor)}</small>}
      {state === 'deprecated' && successor === '' && newest !== undefined && <small>{say.newer(newest)}</small>}
    </>
  );
}

const addressOf = (name: string): string => `/mcp/sets/${name}`;
