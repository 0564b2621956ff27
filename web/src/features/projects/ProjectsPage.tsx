import { GitPullRequestArrow } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useProjects } from '../../api/projects';
import { useRights } from '../../api/rights';
import type { Project } from '../../api/types';
import { Column, Page } from '../../frame/Page';
import { ago, bytes, number } from '../../texts/format';
import { projectsPage as say } from '../../texts/projects';
import { Button } from '../../ui/Button';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { Steps } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { ImportProjectDialog } from './ImportProjectDialog';

/** Lists all projects of the workspace. */
export function ProjectsPage() {
  const found = useProjects();
  const [now] = useState(() => Date.now());
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const { may, why } = useRights();
  const [importing, setImporting] = useState(false);
  const items = found.data?.items ?? [];
  return (
    <Page>
      <Column>
        <section className={entries.section}>
          <div className={entries.head}>
            <div>
              <h1>{say.projects}</h1>
              <p className={entries.lead}>{say.lead}</p>
            </div>
            <Button
              look="primary"
              disabled={!may('write')}
              title={may('write') ? undefined : why('write')}
              onClick={() => setImporting(true)}
            >
              {say.importProject}
            </Button>
          </div>
          {found.isPending && <Waiting shape="rows" what={say.theProjects} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          {found.isSuccess && items.length === 0 && (
            <Steps title={say.none}>
              {say.importIt(<code>atelier project import NAME FOLDER</code>)}
              {say.grantIt(<code>capabilities.files</code>)}
              {say.reviewIt}
            </Steps>
          )}
          {items.length > 0 && (
            <DataTable
              label={say.projects}
              items={items}
              columns={columnsOf(now)}
              rowKey={({ id }) => id}
              words={({ name, description }) => `${name} ${description}`}
            />
          )}
        </section>
      </Column>
      {importing && <ImportProjectDialog onClose={() => setImporting(false)} />}
    </Page>
  );
}

const columnsOf = (now: number): TableColumn<Project>[] => [
  {
    key: 'name',
    title: say.name,
    by: ({ name }) => name,
    cell: ({ name, description }) => (
      <>
        <strong>
          <Link href={`/projects/${encodeURIComponent(name)}`}>{name}</Link>
        </strong>
        {description !== '' && <small>{description}</small>}
      </>
    ),
  },
  {
    key: 'waiting',
    title: say.waiting,
    by: ({ waiting = 0 }) => -waiting,
    cell: ({ waiting = 0 }) =>
      waiting === 0 ? (
        say.nothingWaits
      ) : (
        <StateMark look="warn" icon={GitPullRequestArrow}>
          {say.changesOf(waiting)}
        </StateMark>
      ),
  },
  { key: 'files', title: say.files, numeric: true, by: ({ files }) => -files, cell: ({ files }) => number(files) },
  {
    key: 'size',
    title: say.size,
    numeric: true,
    by: (project) => -project.bytes,
    cell: (project) => bytes(project.bytes),
  },
  {
    key: 'updated',
    title: say.lastChange,
    by: ({ updatedAt }) => -Date.parse(updatedAt),
    cell: ({ updatedAt }) => ago(updatedAt, now),
  },
];
