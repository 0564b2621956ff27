import { useEffect } from 'react';
import { Link } from 'wouter';
import { useProjects } from '../../api/projects';
import { Column, Page } from '../../frame/Page';
import { projectsPage as say } from '../../texts/projects';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';

/** All projects of the workspace. */
export function ProjectsPage() {
  const found = useProjects();
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <section className={entries.section}>
          <div>
            <h1>{say.projects}</h1>
            <p className={entries.lead}>{say.lead}</p>
          </div>
          {found.isPending && <Waiting shape="rows" what={say.theProjects} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          {found.data?.items.length === 0 && <p className={entries.lead}>{say.none}</p>}
          <ul className={entries.list} aria-label={say.projects}>
            {found.data?.items.map(({ id, name, description, files, change }) => (
              <li key={id} className={entries.row}>
                <div className={entries.about}>
                  <strong>
                    <Link href={`/projects/${encodeURIComponent(name)}`}>{name}</Link>
                  </strong>
                  {description !== '' && <small>{description}</small>}
                  <small>{say.size(files, change)}</small>
                </div>
              </li>
            ))}
          </ul>
        </section>
      </Column>
    </Page>
  );
}
