import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useSession } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { ListedAgent, Version } from '../../api/types';
import { showDialog } from '../../state/dialogs';
import { useSearch } from '../../state/search';
import { agentUrl } from '../../state/urlState';
import { ago } from '../../texts/format';
import { listedPage as say } from '../../texts/registry';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { Tags } from '../../ui/Tags';
import { WaitingLine } from '../../ui/Waiting';
import sheet from '../../ui/Sheet.module.css';
import { languageNames } from '../../agent/starters';
import { LanguageMark } from '../../agent/LanguageMark';
import css from './ListedPage.module.css';
import { listedUrl, readListed, registryUrl } from '../../state/registryUrl';

/** Whether the current workspace listed this agent. */
export const useIsOwn = (publisher: string): boolean => useSession().data?.workspace.name === publisher;

interface Props {
  agent: ListedAgent;
  version: Version;
  /** Another version that is being loaded, or undefined. */
  coming: string | undefined;
}

/** Shows the header of a listed agent: the publisher, the description and the version. */
export function ListedAbout({ agent, version, coming }: Props) {
  const { id, publisher, name, tags, usageCount, latestVersion } = agent;
  const { title, description, publishedAt, language, runtime } = version;
  const [now] = useState(() => Date.now());
  const [, navigate] = useLocation();
  const search = useSearch();
  const { may } = useRights();
  const own = useIsOwn(publisher);
  const workspace = useSession().data?.workspace;
  const asked = readListed(search).version ?? latestVersion;
  const section = useRef<HTMLElement>(null);
  const before = useRef(asked);
  // This line is shown while the newly selected version is loading.
  useEffect(() => {
    if (before.current !== asked) section.current?.scrollIntoView();
    before.current = asked;
  }, [asked]);
  const when = (
    <span className={sheet.quiet}>{say.published(ago(publishedAt, now), languageNames[language], runtime)}</span>
  );
  return (
    <section ref={section} className={sheet.about}>
      <div className={sheet.titleLine}>
        <LanguageMark language={language} />
        <h1>{name}</h1>
        <div className={sheet.acts}>
          {may('write') && (
            <Button
              look={own ? 'plain' : 'primary'}
              onClick={() => showDialog({ kind: 'copy', id, name, version: version.version })}
            >
              {say.copyToMyWorkspace}
            </Button>
          )}
          {own && (
            <Button look="primary" onClick={() => navigate(agentUrl(name, version.version))}>
              {say.openInTheEditor}
            </Button>
          )}
        </div>
      </div>
      {title !== '' && title !== name && <p>{title}</p>}
      {description !== '' && description !== title && <p className={css.description}>{description}</p>}
      <Tags label={say.tags} tags={tags} to={(tag) => registryUrl({ tag })} />
      <div className={css.choice}>
        <div className={css.version}>
          <Field label={say.version} hideLabel>
            {(control) => (
              <select
                {...control}
                value={asked}
                onChange={(e) =>
                  navigate(listedUrl(publisher, name, { ...readListed(search), version: e.target.value }))
                }
              >
                {agent.versions.map((one) => (
                  <option key={one.version} value={one.version}>
                    {say.option(one.version, one.version === latestVersion, one.deprecated)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        {coming === undefined ? (
          when
        ) : (
          <WaitingLine key={coming} what={coming}>
            {when}
          </WaitingLine>
        )}
        <span className={sheet.quiet}>
          {say.by(<strong>{own ? workspace?.title : publisher}</strong>, own, usageCount)}
        </span>
      </div>
      <Deprecation agent={agent} shown={version.version} />
    </section>
  );
}

/** Shows the current state of the version, which may have been deprecated since it was loaded. */
function Deprecation({ agent, shown }: { agent: ListedAgent; shown: string }) {
  const found = agent.versions.find((one) => one.version === shown);
  if (!found?.deprecated) return null;
  const { reason = '', successor = '' } = found;
  return (
    <p role="note" className={css.deprecated}>
      {say.isDeprecated(shown, reason)}
      {successor !== '' && <> {say.use(<code>{successor}</code>)}</>}
    </p>
  );
}
