import { FileText, GitPullRequestArrow } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { overlayUrl, useOverlays, useProject, useProjectChanges } from '../../api/projects';
import { useRights } from '../../api/rights';
import type { Overlay, ProjectChange, ProjectFile } from '../../api/types';
import { Column, Page } from '../../frame/Page';
import { ago, bytes, moment, number } from '../../texts/format';
import { projectsPage as say } from '../../texts/projects';
import { Button } from '../../ui/Button';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { Steps } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { OverlayState } from '../../diff/OverlayState';
import { ImportProjectDialog } from './ImportProjectDialog';
import { ProjectFileDialog } from './ProjectFileDialog';
import css from './Projects.module.css';

/** Shows the changes that runs propose to a project, and the project's history. */
export function ProjectPage({ name }: { name: string }) {
  const project = useProject(name);
  const overlays = useOverlays(name);
  const changes = useProjectChanges(name);
  const [now] = useState(() => Date.now());
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const proposed = overlays.data?.items ?? [];
  const done = changes.data?.items ?? [];
  const files = project.data?.paths ?? [];
  const waiting = proposed.filter(({ status }) => status === 'open');
  const open = waiting.length;
  const first = waiting.at(-1); // the oldest
  const [, navigate] = useLocation();
  const { may, why } = useRights();
  const [importing, setImporting] = useState(false);
  const [shown, setShown] = useState<string>();
  return (
    <Page>
      <Column back={{ to: '/projects', label: say.back }}>
        <section className={entries.section}>
          <div className={entries.head}>
            <div className={entries.title}>
              <h1>{name}</h1>
              {project.data && (
                <>
                  {project.data.description !== '' && <p className={entries.lead}>{project.data.description}</p>}
                  <p className={entries.facts}>
                    <span>{say.fileCount(project.data.files)}</span>
                    <span>{bytes(project.data.bytes)}</span>
                    <span>{say.changed(ago(project.data.updatedAt, now))}</span>
                    {open > 0 && (
                      <StateMark look="warn" icon={GitPullRequestArrow}>
                        {say.openChanges(open)}
                      </StateMark>
                    )}
                  </p>
                </>
              )}
            </div>
            <div className={entries.acts}>
              <Button
                disabled={!may('write')}
                title={may('write') ? undefined : why('write')}
                onClick={() => setImporting(true)}
              >
                {say.importNew}
              </Button>
              {first && (
                <Button look="primary" onClick={() => navigate(overlayUrl(name, first.id))}>
                  <GitPullRequestArrow size={14} aria-hidden />
                  {say.review(open)}
                </Button>
              )}
            </div>
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
          <h2>{say.files}</h2>
          {project.isPending && <Waiting shape="rows" what={say.project} retry />}
          <NotLoaded found={project} why={say.notLoaded} />
          {files.length > 0 && (
            <DataTable
              label={say.files}
              items={files}
              most={mostFiles}
              columns={filesOf(setShown)}
              rowKey={({ path }) => path}
              words={({ path }) => path}
            />
          )}
          {project.isSuccess && files.length === 0 && <p className={entries.lead}>{say.noFiles}</p>}
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
      {importing && <ImportProjectDialog into={name} onClose={() => setImporting(false)} />}
      {shown !== undefined && <ProjectFileDialog project={name} path={shown} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

/** A table with more rows would be slow. */
const mostFiles = 500;

const filesOf = (show: (path: string) => void): TableColumn<ProjectFile>[] => [
  {
    key: 'path',
    title: say.path,
    by: ({ path }) => path,
    cell: ({ path }) => (
      <Button look="link" className={css.file} onClick={() => show(path)}>
        <FileText size={14} aria-hidden />
        {path}
      </Button>
    ),
  },
  { key: 'size', title: say.size, numeric: true, by: ({ size }) => -size, cell: ({ size }) => bytes(size) },
];

const proposals = (project: string, now: number): TableColumn<Overlay>[] => [
  {
    key: 'summary',
    title: say.summary,
    by: ({ summary }) => summary,
    cell: ({ id, summary, runId, entries: files }) => (
      <>
        <strong>
          <Link href={overlayUrl(project, id)}>{summary === '' ? say.noSummary : summary}</Link>
        </strong>
        <small>{say.ofRun(files.map(({ path }) => path).join(', '), runId.slice(-6))}</small>
      </>
    ),
  },
  {
    key: 'state',
    title: say.state,
    by: ({ status }) => status,
    cell: ({ status }) => <OverlayState status={status} />,
  },
  { key: 'agent', title: say.agent, by: ({ agent = '' }) => agent, cell: ({ agent = '' }) => agent },
  {
    key: 'files',
    title: say.files,
    numeric: true,
    by: (overlay) => -overlay.entries.length,
    cell: (overlay) => number(overlay.entries.length),
  },
  {
    key: 'made',
    title: say.made,
    by: ({ createdAt }) => -Date.parse(createdAt),
    cell: ({ createdAt }) => <span title={moment(createdAt)}>{ago(createdAt, now)}</span>,
  },
];

const history = (now: number): TableColumn<ProjectChange>[] => [
  {
    key: 'summary',
    title: say.summary,
    by: ({ summary }) => summary,
    cell: ({ summary }) => <strong>{summary === '' ? say.noSummary : summary}</strong>,
  },
  {
    key: 'number',
    title: say.change,
    numeric: true,
    by: (change) => -change.number,
    cell: (change) => number(change.number),
  },
  { key: 'by', title: say.by, by: ({ actor }) => actor.name, cell: ({ actor }) => actor.name },
  {
    key: 'files',
    title: say.files,
    numeric: true,
    by: ({ touched }) => -touched,
    cell: ({ touched }) => number(touched),
  },
  {
    key: 'made',
    title: say.made,
    by: ({ createdAt }) => -Date.parse(createdAt),
    cell: ({ createdAt }) => ago(createdAt, now),
  },
];
