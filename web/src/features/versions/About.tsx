import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useRights } from '../../api/rights';
import type { Agent } from '../../api/types';
import { ago } from '../../texts/format';
import { agentUrl, listUrl } from '../../state/urlState';
import { about as say } from '../../texts/versions';
import { Button, IconButton } from '../../ui/Button';
import { Menu } from '../../ui/Menu';
import { Tags } from '../../ui/Tags';
import entries from '../../ui/Entries.module.css';
import sheet from '../../ui/Sheet.module.css';
import { agentEntries } from '../../agent/agentMenu';
import { LanguageMark } from '../../agent/LanguageMark';
import { OriginNote } from '../../agent/OriginNote';
import css from '../../agent/Versions.module.css';

/** Shows the header of the versions page: owner, usage, origin and actions. */
export function About({ agent }: { agent: Agent }) {
  const { id, name, title, description, tags, listed, latestVersion, draft } = agent;
  const [, navigate] = useLocation();
  const { may } = useRights();
  return (
    <section className={sheet.about}>
      <div className={sheet.titleLine}>
        <LanguageMark language={draft.language} />
        <h1>{say.title(name)}</h1>
        <div className={sheet.acts}>
          <Button onClick={() => navigate(agentUrl(name))}>{say.openTheDraft}</Button>
          <Menu
            trigger={
              <IconButton label={say.actionsFor(name)}>
                <Ellipsis size={16} aria-hidden />
              </IconButton>
            }
            entries={agentEntries(
              { id, name, published: latestVersion !== '' || agent.changelog.length > 0, listed },
              may('write'),
            )}
          />
        </div>
      </div>
      {title !== '' && <p>{title}</p>}
      {description !== '' && description !== title && <p className={sheet.quiet}>{description}</p>}
      <p className={entries.facts}>
        {listed && <span className={css.badge}>{say.inThePublicRegistry}</span>}
        <span>
          <Usage agent={agent} />
        </span>
      </p>
      <Tags label={say.tags} tags={tags} to={(tag) => listUrl({ tag })} />
      <OriginNote agent={agent} />
    </section>
  );
}

function Usage({ agent: { usageCount, lastUsedAt, createdAt } }: { agent: Agent }) {
  const [now] = useState(() => Date.now());
  const created = ago(createdAt, now);
  if (lastUsedAt === undefined) return <>{say.neverRun(created)}</>;
  return <>{say.runsTheLast(usageCount, ago(lastUsedAt, now), created)}</>;
}
