import { useEffect, useMemo, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { isMissing } from '../../api/http';
import { useListedAgent, useListedVersion } from '../../api/queries';
import type { ListedAgent, Version } from '../../api/types';
import { notify } from '../../state/notices';
import { useSearch } from '../../state/search';
import { notOpened } from '../../texts/agents';
import { listedPage as say } from '../../texts/registry';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Retry } from '../../ui/Retry';
import { Waiting } from '../../ui/Waiting';
import sheet from '../../ui/Sheet.module.css';
import { openVersion } from '../../agent/openAgent';
import { OpenAgentProvider } from '../../agent/OpenAgentProvider';
import { Column, Page } from '../../frame/Page';
import { SchemaSummary, summaryOf } from '../../schema/SchemaSummary';
import { ListedAbout } from './ListedAbout';
import css from './ListedPage.module.css';
import { ListedSource } from './ListedSource';
import { ListedVersions } from './ListedVersions';
import { Needs } from './Needs';
import { ReadMe } from './ReadMe';
import { listedUrl, readListed } from '../../state/registryUrl';
import { UseIt } from './UseIt';

interface Props {
  publisher: string;
  name: string;
  /** Shows the open dialog of the agent. */
  dialogs: ReactNode;
}

/** Shows the page of a listed agent: description, schemas and code. */
export function ListedPage({ publisher, name, dialogs }: Props) {
  const [, navigate] = useLocation();
  const search = useSearch();
  const { version: asked, file } = readListed(search);
  const found = useListedAgent(publisher, name);
  const version = asked ?? found.data?.latestVersion ?? '';
  const shown = useListedVersion(publisher, name, version);
  useEffect(() => {
    document.title = say.pageTitle(publisher, name);
  }, [publisher, name]);
  const present = found.data?.name;
  useEffect(() => {
    if (present === undefined || present === name) return;
    notify('done', say.isNow(name, present));
    navigate(listedUrl(publisher, present, readListed(search)), { replace: true });
  }, [present, name, publisher, search, navigate]);

  const all = <Button onClick={() => navigate('/registry')}>{say.publicRegistry}</Button>;
  // If a refresh fails, the shown content stays.
  if (found.isError && (found.data === undefined || isMissing(found.error))) {
    const missing = isMissing(found.error);
    return (
      <Page>
        <Empty
          title={missing ? notOpened.notFound : notOpened.couldNotOpen}
          actions={
            <>
              {!missing && <Retry onRetry={() => void found.refetch()} />}
              {all}
            </>
          }
        >
          {missing ? say.isNotThere(<strong>{`${publisher}/${name}`}</strong>) : say.notLoaded(found.error.message)}
        </Empty>
      </Page>
    );
  }
  if (shown.isError && (shown.data === undefined || isMissing(shown.error))) {
    const missing = isMissing(shown.error);
    return (
      <Page>
        <Empty
          title={missing ? notOpened.notFound : notOpened.couldNotOpen}
          actions={
            <>
              {missing ? (
                <Button onClick={() => navigate(listedUrl(publisher, name))}>{say.showTheLatest}</Button>
              ) : (
                <Retry onRetry={() => void shown.refetch()} />
              )}
              {all}
            </>
          }
        >
          {missing ? say.noSuchVersion(<strong>{`${name}@${version}`}</strong>) : say.notLoaded(shown.error.message)}
        </Empty>
      </Page>
    );
  }
  return (
    <Page>
      {found.data && shown.data ? (
        <Loaded
          agent={found.data}
          version={shown.data}
          coming={shown.isPlaceholderData ? version : undefined}
          file={file}
          dialogs={dialogs}
        />
      ) : (
        <Column back={{ to: '/registry', label: say.publicRegistry }}>
          <Waiting shape="page" what={name} retry />
        </Column>
      )}
    </Page>
  );
}

interface LoadedProps {
  agent: ListedAgent;
  version: Version;
  /** Another version that is being loaded, or undefined. */
  coming: string | undefined;
  file: string | undefined;
  dialogs: ReactNode;
}

function Loaded({ agent, version, coming, file, dialogs }: LoadedProps) {
  const opened = useMemo(() => openVersion({ ...agent, metadata: {} }, version), [agent, version]);
  return (
    <OpenAgentProvider opened={opened}>
      <Column back={{ to: '/registry', label: say.publicRegistry }}>
        <ListedAbout agent={agent} version={version} coming={coming} />
        <div className={css.rest} aria-busy={coming !== undefined}>
          <UseIt agent={agent} version={version} />
          <div className={css.schemas}>
            <section className={sheet.section} aria-labelledby="input">
              <h2 id="input">{say.input}</h2>
              <SchemaSummary described which="input" rows={summaryOf(version.inputSchema)} />
            </section>
            <section className={sheet.section} aria-labelledby="output">
              <h2 id="output">{say.output}</h2>
              <SchemaSummary described which="output" rows={summaryOf(version.outputSchema)} />
            </section>
          </div>
          <Needs version={version} />
          <ReadMe version={version} />
          <ListedSource agent={agent} version={version} file={file} />
          <ListedVersions agent={agent} shown={version.version} />
        </div>
      </Column>
      {dialogs}
    </OpenAgentProvider>
  );
}
