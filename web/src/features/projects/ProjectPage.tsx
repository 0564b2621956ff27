import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useOverlays, useProjectChanges } from '../../api/projects';
import type { Overlay, ProjectChange } from '../../api/types';
import { Column, Page } from '../../frame/Page';
import { ago, number } from '../../texts/format';
import { projectsPage as say } from '../../texts/projects';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { NotLoaded } from '../../ui/NotLoaded';
import { Steps } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { OverlayState } from './OverlayState';

/** The changes that runs propose to a project, and its history. */
export function ProjectPage({ name }: { name: string }) {
  const overlays = useOverlays(name);
  const changes = useProjectChanges(name);
  const [now] = useState(() => Date.now());
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const proposed = overlays.data?.items ?? [];
  const done = changes.data?.items ?? [];
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
          {overlays.isSuccess && proposed.length === 0 && (
            <Steps title={say.noneProposed}>
              {say.grantIt(<code>capabilities.files</code>)}
              {say.proposeIt(<code>ctx.writeFile</code>, <code>ctx.submitResult</code>)}
              {say.reviewIt}
            </Steps>
          )}
          {proposed.length > 0 && (
            <DataTable
              label={say.proposed}
              items={proposed}
              columns={proposals(name, now)}
              rowKey={({ id }) => id}
              words={({ summary, agent = '' }) => `${summary} ${agent}`}
              faded={({ status }) => status !== 'open'}
              top={({ status }) => status === 'open'}
            />
          )}
          {(done.length > 0 || changes.isError) && <h2>{say.history}</h2>}
          <NotLoaded found={changes} why={say.notLoaded} />
          {done.length > 0 && (
            <DataTable
              label={say.history}
              items={done}
              columns={history(now)}
              rowKey={(change) => String(change.number)}
              words={({ summary, actor }) => `${summary} ${actor.name}`}
            />
          )}
        </section>
      </Column>
    </Page>
  );
}

const proposals = (project: string, now: number): TableColumn<Overlay>[] => [
  {
    key: 'summary',
    title: say.summary,
    by: ({ summary }) => summary,
    cell: ({ id, summary }) => (
      <strong>
        <Link href={`/projects/${encodeURIComponent(project)}/overlays/${encodeURIComponent(id)}`}>
          {summary === '' ? say.noSummary : summary}
        </Link>
      </strong>
    ),
  },
  {
    key: 'state',
    title: say.state,
    by: ({ status }) => status,
    cell: ({ status }) => <OverlayState status={status} />,
  },
  { key: 'agent', title: say.agent, by: ({ agent = '' }) => agent, cell: ({ agent = '' }) => agent },
  { key: 'files', title: say.files, by: (overlay) => -overlay.entries.length, cell: (o) => number(o.entries.length) },
  {
    key: 'made',
    title: say.made,
    by: ({ createdAt }) => -Date.parse(createdAt),
    cell: ({ createdAt }) => ago(createdAt, now),
  },
];

const history = (now: number): TableColumn<ProjectChange>[] => [
  { key: 'number', title: say.change, by: (change) => -change.number, cell: (change) => number(change.number) },
  {
    key: 'summary',
    title: say.summary,
    by: ({ summary }) => summary,
    cell: ({ summary }) => <strong>{summary === '' ? say.noSummary : summary}</strong>,
  },
  { key: 'by', title: say.by, by: ({ actor }) => actor.name, cell: ({ actor }) => actor.name },
  { key: 'files', title: say.files, by: ({ touched }) => -touched, cell: ({ touched }) => number(touched) },
  {
    key: 'made',
    title: say.made,
    by: ({ createdAt }) => -Date.parse(createdAt),
    cell: ({ createdAt }) => ago(createdAt, now),
  },
];
