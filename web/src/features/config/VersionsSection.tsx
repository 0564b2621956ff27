import { Copy, FileOutput, GitCompare } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useFacts, useVersions } from '../../api/queries';
import { showDialog } from '../../app/dialogs';
import { ago, plural } from '../../app/format';
import { agentUrl, versionsUrl } from '../../app/urlState';
import { Button, IconButton } from '../../ui/Button';
import { copyReference } from '../agents/useAgentCommands';
import { useOpenAgent } from '../agents/openAgent';
import { OriginNote } from '../versions/OriginNote';
import css from './ConfigPanel.module.css';
import { Section } from './Section';

/** What was published: each version can be read, copied as a reference and exported. */
export function VersionsSection() {
  const { name, version, session } = useOpenAgent();
  const versions = useVersions(name);
  const facts = useFacts(name);
  const [now] = useState(() => Date.now());
  const all = versions.data ?? [];
  return (
    <Section id="versions" title="Versions" summary={all.length === 0 ? 'None' : plural(all.length, 'version')}>
      {versions.isError && <p className={css.error}>The versions could not be loaded. {versions.error.message}</p>}
      {versions.data && all.length === 0 && (
        <>
          <p className={css.hint}>A version never changes, so others can pin it. There is none yet.</p>
          {session && (
            <div>
              <Button onClick={() => showDialog({ kind: 'publish' })}>Publish the first version…</Button>
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
              {v.deprecated &&
                ` · deprecated${v.reason ? `: ${v.reason}` : ''}${v.successor ? `, use ${v.successor}` : ''}`}
              {v.changelog !== '' && ` · ${v.changelog}`}
            </p>
            <span className={css.tools}>
              <IconButton
                small
                label={`Compare ${v.version} with the draft`}
                onClick={() => showDialog({ kind: 'compare', from: v.version, to: 'draft' })}
              >
                <GitCompare size={14} aria-hidden />
              </IconButton>
              <IconButton
                small
                label={`Copy reference ${name}@${v.version}`}
                onClick={() => void copyReference(`${name}@${v.version}`)}
              >
                <Copy size={14} aria-hidden />
              </IconButton>
              <IconButton
                small
                label={`Export ${v.version}`}
                onClick={() => showDialog({ kind: 'export', version: v.version })}
              >
                <FileOutput size={14} aria-hidden />
              </IconButton>
            </span>
          </li>
        ))}
      </ul>
      <Link href={versionsUrl(name)}>All about its versions</Link>
    </Section>
  );
}
