import { Ellipsis, History, PanelRight, Play, Square } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useFacts, useUnpublished, useVersion } from '../api/queries';
import { useRights } from '../api/rights';
import { Grow } from '../frame/Brand';
import { useKeys } from '../state/bindings';
import { isMac, runCommand } from '../state/commands';
import { showDialog } from '../state/dialogs';
import { ariaKeys, showKeys } from '../state/hotkeys';
import { toggleRight, useRightSeen } from '../state/layout';
import { agentUrl, versionsUrl } from '../state/urlState';
import { agentHeader as say } from '../texts/agents';
import { ago } from '../texts/format';
import { Button, IconButton } from '../ui/Button';
import { classes } from '../ui/classes';
import { Menu, type MenuEntry } from '../ui/Menu';
import { fieldLabel } from '../agent/fieldLabel';
import css from './AgentHeader.module.css';
import { agentEntries, ask } from '../agent/agentMenu';
import { useOpenAgent, type OpenAgent } from '../agent/openAgent';
import { AssistMenu } from './AssistMenu';
import { VerdictChip } from '../agent/VerdictChip';
import { useUnreachable } from '../agent/useUnreachable';

interface Props {
  busy: boolean;
  /** Whether the run cannot be stopped, because it has not started yet or is already being stopped. */
  fixed: boolean;
  onStop: () => void;
}

export function AgentHeader({ busy, fixed, onStop }: Props) {
  const agent = useOpenAgent();
  const [, navigate] = useLocation();
  const draft = agent.version === undefined;
  const edits = agent.session !== undefined;
  const { may } = useRights();
  const publish = useKeys('agent.publish');
  const unreachable = useUnreachable();
  const configured = useRightSeen();
  return (
    <>
      <div className={css.title}>
        <h1 title={agent.about.title === '' ? undefined : agent.about.title}>{agent.name}</h1>
        {draft ? (
          <DraftPill agent={agent} />
        ) : (
          <span className={classes(css.pill, agent.deprecated && css.warn)}>
            {agent.version}
            {say.readOnly}
          </span>
        )}
        {agent.deprecated && <span className={classes(css.pill, css.warn, css.roomy)}>{say.deprecated}</span>}
      </div>
      {edits && (
        <IconButton
          small
          label={say.history}
          className={css.history}
          onClick={() => showDialog({ kind: 'draftHistory' })}
        >
          <History size={14} aria-hidden />
        </IconButton>
      )}
      {edits && <SaveStatus agent={agent} />}
      {agent.version !== undefined && <Published name={agent.name} version={agent.version} />}
      <Grow />
      <div className={css.actions}>
        {(may('read') || may('run')) && (
          <Button className={css.roomy} onClick={() => showExport(agent)}>
            {say.exportAsTool}
          </Button>
        )}
        {draft && edits && (
          <Button
            className={css.wide}
            aria-keyshortcuts={ariaKeys(publish, isMac)}
            disabled={unreachable !== undefined}
            title={unreachable}
            onClick={() => showDialog({ kind: 'publish' })}
          >
            {say.publish}
          </Button>
        )}
        {!draft && (
          <Button className={css.wide} onClick={() => navigate(agentUrl(agent.name))}>
            {say.openTheDraft}
          </Button>
        )}
        <AssistMenu />
        <span className={css.verdict}>
          <VerdictChip onClick={() => showDialog({ kind: 'publish' })} />
        </span>
        <RunButton busy={busy} fixed={fixed} onStop={onStop} />
        <More agent={agent} />
      </div>
      <IconButton label={say.toggleConfiguration} aria-expanded={configured} onClick={toggleRight} className={css.wide}>
        <PanelRight size={16} aria-hidden />
      </IconButton>
    </>
  );
}

/** When the version was published, with its changelog as a tooltip. The page has already loaded the version. */
function Published({ name, version }: { name: string; version: string }) {
  const { data } = useVersion(name, version);
  const [now] = useState(() => Date.now());
  if (!data) return null;
  const title = data.changelog === '' ? undefined : data.changelog;
  return (
    <span className={classes(css.save, css.roomy)} data-look="quiet" title={title}>
      {say.published(ago(data.publishedAt, now))}
    </span>
  );
}

/** The state of the draft: never published, changed since the latest version, or equal to it. */
function DraftPill({ agent: { name, latestVersion, save, session } }: { agent: OpenAgent }) {
  const { may } = useRights();
  const published = latestVersion !== '';
  const changed = useUnpublished(name, latestVersion, save.kind === 'saved', published && may('read'));
  return (
    <span
      className={css.pill}
      title={changed === undefined ? undefined : changed ? say.unpublishedChanges : say.sameAs(latestVersion)}
    >
      {!published ? (
        say.draft
      ) : changed ? (
        <>
          <span className={css.long}>{say.unpublishedChanges}</span>
          <span className={css.short}>{say.changed}</span>
        </>
      ) : (
        latestVersion
      )}
      {!session && say.readOnly}
    </span>
  );
}

/** The menu with all actions of the agent. On a narrow screen it also has Publish and Export. */
function More({ agent }: { agent: OpenAgent }) {
  const { id, name, version, latestVersion } = agent;
  const [, navigate] = useLocation();
  const facts = useFacts(name);
  const { may } = useRights();
  const unreachable = useUnreachable();
  const published = latestVersion !== '';
  const entries: MenuEntry[] = [
    ask(say.exportAsTool, version === undefined ? { kind: 'export' } : { kind: 'export', version }),
    ask(say.connect, { kind: 'connect' }),
    ...(!may('write')
      ? []
      : version === undefined
        ? [{ ...ask(say.publish, { kind: 'publish' }), why: unreachable }]
        : [ask(say.newDraftFromThisVersion, { kind: 'redraft', from: version })]),
    { kind: 'rule' },
    { kind: 'item', label: say.versions, run: () => navigate(versionsUrl(name)) },
    ...(version === undefined ? [ask(say.history, { kind: 'draftHistory' })] : []),
    ...(published && version === undefined
      ? [
          ask(say.compareWith(latestVersion), { kind: 'compare', from: latestVersion, to: 'draft' }),
          ...(may('write') ? [ask(say.discardTheDraft, { kind: 'redraft', from: latestVersion })] : []),
        ]
      : []),
    { kind: 'rule' },
    ...agentEntries({ id, name, published, listed: facts.data?.listed ?? false }, may('write')),
  ];
  return (
    <Menu
      trigger={
        <IconButton label={say.moreAbout(name)}>
          <Ellipsis size={16} aria-hidden />
        </IconButton>
      }
      entries={entries}
    />
  );
}

export function showExport({ version }: OpenAgent): void {
  showDialog(version === undefined ? { kind: 'export' } : { kind: 'export', version });
}

function RunButton({ busy, fixed, onStop }: Props) {
  const { may, why } = useRights();
  const unreachable = useUnreachable();
  const start = useKeys('run.start');
  const stop = useKeys('run.stop');
  if (busy) {
    return (
      <Button
        look="danger"
        className={css.run}
        aria-keyshortcuts={ariaKeys(stop, isMac)}
        disabled={fixed}
        onClick={onStop}
      >
        <Square size={12} fill="currentColor" aria-hidden />
        {say.stop}
      </Button>
    );
  }
  return (
    <Button
      look="primary"
      className={css.run}
      aria-keyshortcuts={ariaKeys(start, isMac)}
      disabled={!may('run') || unreachable !== undefined}
      title={may('run') ? unreachable : why('run')}
      onClick={() => runCommand('run.start')}
    >
      <Play size={12} fill="currentColor" aria-hidden />
      {say.run}
      <kbd aria-hidden>{showKeys(start, isMac)}</kbd>
    </Button>
  );
}

function SaveStatus({ agent }: { agent: OpenAgent }) {
  const { text, look } = saveWords(agent);
  return (
    <span
      role="status"
      aria-label={say.draft}
      data-look={look}
      className={classes(css.save, look !== 'quiet' && css[look])}
      title={text}
    >
      {text}
    </span>
  );
}

function saveWords({ save, schemas, fields }: OpenAgent): { text: string; look: 'quiet' | 'warn' | 'err' } {
  const unreadable = schemas.input.fault ? 'input' : schemas.output.fault ? 'output' : undefined;
  switch (save.kind) {
    case 'saved':
      return unreadable === undefined
        ? { text: say.saved, look: 'quiet' }
        : { text: say.savedButNot(unreadable), look: 'warn' };
    case 'dirty':
    case 'saving':
      return { text: say.saving, look: 'quiet' };
    case 'offline':
      return { text: say.offlineChangesKeptHere, look: 'warn' };
    case 'conflict':
      return { text: say.conflict, look: 'err' };
    case 'refused':
      return { text: say.notSaved(reasonOf(save, fields)), look: 'err' };
  }
}

/** The error of the first field is more specific than the server's summary. */
function reasonOf(save: Extract<OpenAgent['save'], { kind: 'refused' }>, draft: OpenAgent['fields']): string {
  const [first] = save.fields;
  return first === undefined ? save.message : `${fieldLabel(first.pointer, draft)} ${first.message}`;
}
