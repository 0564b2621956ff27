import { useEffect } from 'react';
import { Link } from 'wouter';
import { useOverlays, useProjectChanges } from '../../api/projects';
import { Column, Page } from '../../frame/Page';
import { moment } from '../../texts/format';
import { projectsPage as say } from '../../texts/projects';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';

/** The changes that runs propose to a project, and its history. */
export function ProjectPage({ name }: { name: string }) {
  const overlays = useOverlays(name);
  const changes = useProjectChanges(name);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <section className={entries.section}>
          <div>
            <Link href="/projects">{say.back}</Link>
            <h1>{name}</h1>
          </div>
          <h2>{say.proposed}</h2>
          {overlays.isPending && <Waiting shape="rows" what={say.project} retry />}
          <NotLoaded found={overlays} why={say.notLoaded} />
          {overlays.data?.items.length === 0 && <p className={entries.lead}>{say.noneProposed}</p>}
          <ul className={entries.list} aria-label={say.proposed}>
            {overlays.data?.items.map(({ id, summary, agent, createdAt, status, entries: files }) => (
              <li key={id} className={entries.row}>
                <div className={entries.about}>
                  <strong>
                    <Link href={`/projects/${encodeURIComponent(name)}/overlays/${encodeURIComponent(id)}`}>
                      {summary === '' ? say.noSummary : summary}
                    </Link>
                  </strong>
                  <small>{[agent, moment(createdAt), say.touched(files.length)].filter(Boolean).join(' · ')}</small>
                </div>
                <div className={entries.acts}>{say.states[status]}</div>
              </li>
            ))}
          </ul>
          <h2>{say.history}</h2>
          <ol className={entries.list} aria-label={say.history} reversed>
            {changes.data?.items.map(({ number, summary, actor, createdAt, touched }) => (
              <li key={number} className={entries.row}>
                <div className={entries.about}>
                  <strong>{summary === '' ? say.noSummary : summary}</strong>
                  <small>{say.by(actor.name, moment(createdAt))}</small>
                </div>
                <div className={entries.acts}>{say.touched(touched)}</div>
              </li>
            ))}
          </ol>
        </section>
      </Column>
    </Page>
  );
}
