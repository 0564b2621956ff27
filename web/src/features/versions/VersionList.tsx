import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { explain } from '../../api/http';
import { readVersion, useDiff, useMembers, usePins, useVersions } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Agent, Pin, VersionSummary } from '../../api/types';
import { showDialog } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { ago, sentence } from '../../texts/format';
import { agentUrl } from '../../state/urlState';
import { versionList as say } from '../../texts/versions';
import { Button, IconButton } from '../../ui/Button';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { NotLoaded } from '../../ui/NotLoaded';
import { Retry } from '../../ui/Retry';
import { Skeleton } from '../../ui/Skeleton';
import { Waiting } from '../../ui/Waiting';
import { Menu, type MenuEntry } from '../../ui/Menu';
import sheet from '../../ui/Sheet.module.css';
import { ask } from '../../agent/agentMenu';
import { copyReference } from '../../agent/useLifecycleCommands';
import { useUnreachable } from '../../agent/useUnreachable';
import { runLine } from '../../agent/callCommands';
import { exampleInput } from '../../agent/exampleInput';
import css from '../../agent/Versions.module.css';
import { VersionTimeline } from './VersionTimeline';

/** Shows the changelog: the draft, and then all versions, newest first. Each has actions. */
export function VersionList({ agent }: { agent: Agent }) {
  const { name } = agent;
  const versions = useVersions(name);
  const pins = usePins(name);
  const members = useMembers();
  const nameOf = (id: string): string => members.data?.find((member) => member.id === id)?.title ?? id;
  const { may } = useRights();
  const unreachable = useUnreachable();
  const [now] = useState(() => Date.now());
  const all = versions.data ?? [];
  const [first, second] = all;
  const lines: Line[] = [undefined, ...all];
  return (
    <section className={sheet.section} aria-labelledby="versions">
      <div className={sheet.bar}>
        <h2 id="versions">{say.versions}</h2>
        <span className={sheet.grow} />
        {first && (
          <Button
            onClick={() =>
              showDialog(
                second
                  ? { kind: 'compare', from: second.version, to: first.version }
                  : { kind: 'compare', from: first.version, to: 'draft' },
              )
            }
          >
            {say.compare}
          </Button>
        )}
        {may('write') && (
          <Button
            look="primary"
            disabled={unreachable !== undefined}
            title={unreachable}
            onClick={() => showDialog({ kind: 'publish' })}
          >
            {say.publishTheDraft}
          </Button>
        )}
      </div>
      <NotLoaded found={versions} why={say.notLoaded} />
      <VersionTimeline versions={all} pins={pins.data ?? []} />
      <DataTable
        label={say.versionsOf(name)}
        items={lines}
        columns={columnsOf(agent, pins.data ?? [], now, nameOf)}
        rowKey={(line) => line?.version ?? 'draft'}
        words={(line) =>
          line ? [line.version, line.changelog, line.runtime, nameOf(line.publishedBy)].join(' ') : say.draft
        }
        top={(line) => line === undefined}
      />
      {versions.isPending && <Waiting shape="rows" what={say.theVersions} retry />}
    </section>
  );
}

/** Shows the difference between the draft and the latest version. */
function Since({ name, latest }: { name: string; latest: string }) {
  const found = useDiff(name, latest, 'draft');
  if (found.isError)
    return (
      <p className={sheet.quiet}>
        {say.notCompared(latest, found.error.message)} <Retry look="link" onRetry={() => void found.refetch()} />
      </p>
    );
  // While the difference is loaded, a placeholder of one line is shown, so that the content below does not wait.
  if (!found.data)
    return (
      <div>
        <span className="visually-hidden">{say.comparingWith(latest)}</span>
        <Skeleton shape="line" />
      </div>
    );
  const { bump, version } = found.data.advice;
  return <p>{bump === 'none' ? say.theSameAs(latest) : say.aChangeSince(bump, latest, version)}</p>;
}

/** Shows a version or the draft. */
type Line = VersionSummary | undefined;

const columnsOf = (agent: Agent, pins: Pin[], now: number, nameOf: (id: string) => string): TableColumn<Line>[] => {
  const usersOf = (line: Line): Pin[] => pins.filter(({ version }) => version !== '' && version === line?.version);
  const { name, latestVersion, draft } = agent;
  return [
    {
      key: 'version',
      title: say.version,
      by: (line) => line?.version ?? '',
      cell: (line) => (
        <div className={css.number}>
          <Link href={agentUrl(name, line?.version)}>{line?.version ?? say.draft}</Link>
          {line && line.version === latestVersion && <span className={css.badge}>{say.latest}</span>}
          {line?.deprecated === true && <span className={css.warnBadge}>{say.deprecated}</span>}
        </div>
      ),
    },
    {
      key: 'changes',
      title: say.changes,
      cell: (line) =>
        line ? (
          <Changes version={line} />
        ) : latestVersion === '' ? (
          say.notPublishedYet
        ) : (
          <Since name={name} latest={latestVersion} />
        ),
    },
    { key: 'runtime', title: say.runtime, by: (line) => line?.runtime ?? '', cell: (line) => line?.runtime },
    {
      key: 'users',
      title: say.usedBy,
      by: (line) => -usersOf(line).length,
      cell: (line) => <Users pins={usersOf(line)} />,
    },
    {
      key: 'published',
      title: say.changed,
      by: (line) => -Date.parse(line?.publishedAt ?? agent.updatedAt),
      cell: (line) => (
        <>
          {ago(line?.publishedAt ?? agent.updatedAt, now)}
          <small>{line ? say.by(nameOf(line.publishedBy)) : say.revision(draft.revision)}</small>
        </>
      ),
    },
    {
      key: 'acts',
      title: say.actions,
      acts: true,
      cell: (line) => (line ? <VersionMenu version={line} id={agent.id} name={name} /> : <DraftMenu agent={agent} />),
    },
  ];
};

function Users({ pins }: { pins: Pin[] }) {
  const [first, second, ...others] = pins.map(({ label, owner }) => (label === '' ? owner : label));
  if (first === undefined) return null;
  return (
    <>
      {second === undefined ? first : `${first}, ${second}`}
      {others.length > 0 && <small>{say.more(others.length)}</small>}
    </>
  );
}

function Changes({ version: v }: { version: VersionSummary }) {
  return (
    <div className={css.what}>
      {v.deprecated && (
        <p className={css.warn}>
          {v.reason === undefined || v.reason === '' ? say.noReasonWasGiven : sentence(v.reason)}
          {v.successor !== undefined && v.successor !== '' && <> {say.use(<code>{v.successor}</code>)}</>}
        </p>
      )}
      <p className={css.changes}>
        {v.changelog === '' ? <span className={sheet.quiet}>{say.noChangelog}</span> : v.changelog}
      </p>
      {v.runtimeChoice && v.runtimeChoice.reason !== 'fits' && <p className={sheet.quiet}>{v.runtimeChoice.message}</p>}
    </div>
  );
}

function DraftMenu({ agent: { latestVersion } }: { agent: Agent }) {
  const { may } = useRights();
  if (latestVersion === '') return null;
  return (
    <RowMenu
      label={say.actionsForTheDraft}
      entries={[
        ask(say.compareWith(latestVersion), { kind: 'compare', from: latestVersion, to: 'draft' }),
        ...(may('write')
          ? [{ ...ask(say.discardTheDraft, { kind: 'redraft', from: latestVersion }), danger: true }]
          : []),
      ]}
    />
  );
}

function VersionMenu({ id, name, version: v }: { id: string; name: string; version: VersionSummary }) {
  const { version, reference } = v;
  const [, navigate] = useLocation();
  const { may } = useRights();
  const entries: MenuEntry[] = [
    { kind: 'item', label: say.open, run: () => navigate(agentUrl(name, version)) },
    { kind: 'item', label: say.copyReference, run: () => void copyReference(reference) },
    { kind: 'item', label: say.copyReferenceByDigest, run: () => void copyReference(`${name}@${v.digest}`) },
    { kind: 'item', label: say.copyTheLineFor, run: () => void copyLine(id, name, version) },
    ask(say.exportAsTool, { kind: 'export', version }),
    { kind: 'rule' },
    ask(say.compareWithTheDraft, { kind: 'compare', from: version, to: 'draft' }),
    ...(may('write')
      ? [
          ask(say.newDraftFromThisVersion, { kind: 'redraft', from: version }),
          { kind: 'rule' } satisfies MenuEntry,
          ask(v.deprecated ? say.changeTheDeprecation : say.deprecate, { kind: 'deprecate', version }),
        ]
      : []),
  ];
  return <RowMenu label={say.actionsFor(version)} entries={entries} />;
}

/** Returns the terminal command that runs the version with a valid input. */
async function copyLine(id: string, name: string, version: string): Promise<void> {
  const line = readVersion(name, version).then(({ inputSchema }) =>
    runLine(name, version, exampleInput(id, inputSchema)),
  );
  try {
    await copyReference(line);
  } catch (error) {
    notify('failed', say.lineNotMade(explain(error)));
  }
}

function RowMenu({ label, entries }: { label: string; entries: MenuEntry[] }) {
  return (
    <Menu
      trigger={
        <IconButton small label={label}>
          <Ellipsis size={16} aria-hidden />
        </IconButton>
      }
      entries={entries}
    />
  );
}
