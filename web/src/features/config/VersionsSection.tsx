import { Copy, FileOutput, GitCompare } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useFacts, useVersions } from '../../api/queries';
import { showDialog } from '../../state/dialogs';
import { versionsSection as say } from '../../texts/config';
import { ago } from '../../texts/format';
import { agentUrl, versionsUrl } from '../../state/urlState';
import { Button, IconButton } from '../../ui/Button';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { copyReference } from '../../agent/useLifecycleCommands';
import { useOpenAgent } from '../../agent/openAgent';
import { useUnreachable } from '../../agent/useUnreachable';
import { OriginNote } from '../../agent/OriginNote';
import css from './ConfigPanel.module.css';
import { inOneLine } from './lines';
import { Section } from './Section';

/** Lists the published versions, with actions to open a version, copy its reference and export it. */
export function VersionsSection() {
  const { name, version, session } = useOpenAgent();
  const versions = useVersions(name);
  const facts = useFacts(name);
  const unreachable = useUnreachable();
  const [now] = useState(() => Date.now());
  const all = versions.data ?? [];
  // Until the list is loaded, the note "no versions" must not appear.
  const summary = !versions.data ? '' : all.length === 0 ? say.none : say.versionsNamed(all.length);
  return (
    <Section id="versions" title={say.versions} summary={summary}>
      {versions.isPending && <Waiting shape="lines" what={say.theVersions} retry />}
      <NotLoaded found={versions} why={say.notLoaded} />
      {versions.data && all.length === 0 && (
        <>
          <p className={css.hint}>{say.aVersionNeverChanges}</p>
          {session && (
            <div>
              <Button
                disabled={unreachable !== undefined}
                title={unreachable}
                onClick={() => showDialog({ kind: 'publish' })}
              >
                {say.publishTheFirstVersion}
              </Button>
            </div>
          )}
        </>
      )}
      {facts.data && <OriginNote agent={facts.data} />}
      <ul className={css.versions} hidden={all.length === 0}>
        {all.map((v) => (
          <li key={v.version} className={css.version}>
            <Link href={agentUrl(name, v.version)} aria-current={v.version === version ? 'page' : undefined}>
              {v.version}
            </Link>
            <p title={v.changelog}>
              {ago(v.publishedAt, now)}
              {v.deprecated && ` · ${say.deprecated(v.reason, v.successor)}`}
              {v.changelog !== '' && ` · ${inOneLine(v.changelog)}`}
            </p>
            <span className={css.tools}>
              <IconButton
                small
                label={say.compareWithTheDraft(v.version)}
                onClick={() => showDialog({ kind: 'compare', from: v.version, to: 'draft' })}
              >
                <GitCompare size={14} aria-hidden />
              </IconButton>
              <IconButton
                small
                label={say.copyReference(name, v.version)}
                onClick={() => void copyReference(`${name}@${v.version}`)}
              >
                <Copy size={14} aria-hidden />
              </IconButton>
              <IconButton
                small
                label={say.export(v.version)}
                onClick={() => showDialog({ kind: 'export', version: v.version })}
              >
                <FileOutput size={14} aria-hidden />
              </IconButton>
            </span>
          </li>
        ))}
      </ul>
      <Link href={versionsUrl(name)}>{say.allAboutItsVersions}</Link>
    </Section>
  );
}
