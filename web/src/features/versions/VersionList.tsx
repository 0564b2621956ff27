import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { explain } from '../../api/http';
import { readVersion, useDiff, usePins, useVersions } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Agent, Pin, VersionSummary } from '../../api/types';
import { showDialog } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { ago, sentence } from '../../texts/format';
import { agentUrl } from '../../state/urlState';
import { versionList as say } from '../../texts/versions';
import { Button, IconButton } from '../../ui/Button';
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

/** The changelog: the draft first, then all versions, newest first, with their actions. */
export function VersionList({ agent }: { agent: Agent }) {
  const { name, latestVersion, draft } = agent;
  const versions = useVersions(name);
  const pins = usePins(name);
  const { may } = useRights();
  const unreachable = useUnreachable();
  const [now] = useState(() => Date.now());
  const all = versions.data ?? [];
  const [first, second] = all;
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
      <ul className={css.versions} aria-label={say.versionsOf(name)}>
        <li>
          <div className={css.number}>
            <Link href={agentUrl(name)}>{say.draft}</Link>
          </div>
          <div className={css.what}>
            {latestVersion === '' ? <p>{say.notPublishedYet}</p> : <Since name={name} latest={latestVersion} />}
            <small>{say.revision(ago(agent.updatedAt, now), draft.revision)}</small>
          </div>
          {latestVersion !== '' && (
            <RowMenu
              label={say.actionsForTheDraft}
              entries={[
                ask(say.compareWith(latestVersion), { kind: 'compare', from: latestVersion, to: 'draft' }),
                ...(may('write')
                  ? [{ ...ask(say.discardTheDraft, { kind: 'redraft', from: latestVersion }), danger: true }]
                  : []),
              ]}
            />
          )}
        </li>
        {all.map((v) => (
          <Row
            key={v.version}
            version={v}
            id={agent.id}
            name={name}
            latest={v.version === latestVersion}
            pins={(pins.data ?? []).filter((pin) => pin.version === v.version)}
            now={now}
          />
        ))}
      </ul>
      {versions.isPending && <Waiting shape="rows" what={say.theVersions} retry />}
    </section>
  );
}

/** The difference between the draft and the latest version. */
function Since({ name, latest }: { name: string; latest: string }) {
  const found = useDiff(name, latest, 'draft');
  if (found.isError)
    return (
      <p className={sheet.quiet}>
        {say.notCompared(latest, found.error.message)} <Retry look="link" onRetry={() => void found.refetch()} />
      </p>
    );
  // A one-line placeholder, so that the content below does not wait.
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

interface RowProps {
  id: string;
  name: string;
  version: VersionSummary;
  latest: boolean;
  pins: Pin[];
  now: number;
}

function Row({ id, name, version: v, latest, pins, now }: RowProps) {
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
  return (
    <li>
      <div className={css.number}>
        <Link href={agentUrl(name, version)}>{version}</Link>
        {latest && <span className={css.badge}>{say.latest}</span>}
        {v.deprecated && <span className={css.warnBadge}>{say.deprecated}</span>}
      </div>
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
        {v.runtimeChoice && v.runtimeChoice.reason !== 'fits' && (
          <p className={sheet.quiet}>{v.runtimeChoice.message}</p>
        )}
        <small>
          {ago(v.publishedAt, now)} · {v.runtime}
          {pins.length > 0 && ` · ${say.referencesToIt(pins.length)}`}
        </small>
      </div>
      <RowMenu label={say.actionsFor(version)} entries={entries} />
    </li>
  );
}

/** The terminal command that runs it with a valid input. */
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
