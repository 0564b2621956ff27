import { PencilLine, Star } from 'lucide-react';
import { Link } from 'wouter';
import type { AgentSummary } from '../../api/types';
import { LanguageMark } from '../../agent/LanguageMark';
import { RunMark } from '../../agent/RunMark';
import { toggleFavourite, useIsFavourite } from '../../state/favourites';
import { agentUrl } from '../../state/urlState';
import { agentList as say } from '../../texts/agents';
import { ago } from '../../texts/format';
import { IconButton } from '../../ui/Button';
import css from './AgentList.module.css';

interface Props {
  agent: AgentSummary;
  now: number;
  onTag: (tag: string) => void;
}

/** Shows an agent with its description, the state of its last run, its version and its last change. */
export function AgentRow({ agent, now, onTag }: Props) {
  const { id, name, title, description, language, tags, lastRun, updatedBy } = agent;
  return (
    <li className={css.row}>
      <LanguageMark language={language} />
      <div className={css.about}>
        <div className={css.tags}>
          <Link href={agentUrl(name)}>{name}</Link>
          {title !== '' && (
            <span className={css.title} dir="auto">
              {title}
            </span>
          )}
          {tags.map((tag) => (
            <button key={tag} type="button" aria-label={say.only(tag)} onClick={() => onTag(tag)}>
              {tag}
            </button>
          ))}
        </div>
        <p dir="auto" data-missing={description === ''}>
          {description === '' ? say.noDescription : description}
        </p>
      </div>
      <div className={css.run}>
        {lastRun ? (
          <RunMark run={lastRun} after={ago(lastRun.at, now)} />
        ) : (
          <span className={css.quiet}>{say.notRunYet}</span>
        )}
        <small>{agent.usageCount > 0 && say.calls(agent.usageCount)}</small>
      </div>
      <Version agent={agent} />
      <span className={css.changed}>
        {say.changed(ago(agent.updatedAt, now))}
        <small>{updatedBy && updatedBy.name !== '' && say.by(updatedBy.name)}</small>
      </span>
      <Favourite id={id} name={name} />
    </li>
  );
}

function Version({ agent: { state, latestVersion, unpublishedChanges } }: { agent: AgentSummary }) {
  return (
    <div className={css.version}>
      {latestVersion === '' ? (
        <span className={css.quiet}>{state === 'draft' ? say.draft : say.preRelease}</span>
      ) : (
        <span>{latestVersion}</span>
      )}
      {unpublishedChanges && (
        <small className={css.edited}>
          <PencilLine size={12} aria-hidden />
          {say.unpublishedChanges}
        </small>
      )}
    </div>
  );
}

function Favourite({ id, name }: { id: string; name: string }) {
  const on = useIsFavourite(id);
  return (
    <IconButton
      small
      className={css.star}
      aria-pressed={on}
      label={say.favourite(name)}
      onClick={() => toggleFavourite(id)}
    >
      <Star size={14} fill={on ? 'currentColor' : 'none'} aria-hidden />
    </IconButton>
  );
}
