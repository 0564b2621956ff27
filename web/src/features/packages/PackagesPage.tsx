import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useInstalledPackages } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { InstalledPackages } from '../../api/types';
import { Column, Page } from '../../frame/Page';
import { agentUrl } from '../../state/urlState';
import { ago, bytes } from '../../texts/format';
import { packagesPage as say } from '../../texts/packages';
import { Button } from '../../ui/Button';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import entries from '../../ui/Entries.module.css';
import { NotLoaded } from '../../ui/NotLoaded';
import { Steps } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import { CleanUpDialog } from './CleanUpDialog';
import css from './PackagesPage.module.css';

type Installed = InstalledPackages['items'][number];

/** Shows the installed packages of the workspace, their size, and the versions that use them. */
export function PackagesPage() {
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const found = useInstalledPackages();
  const [now] = useState(() => Date.now());
  const [cleaning, setCleaning] = useState(false);
  const { may } = useRights();
  const [, navigate] = useLocation();
  const { items = [], running = [], bytes: size = 0 } = found.data ?? {};
  return (
    <Page>
      <Column>
        <section className={entries.section}>
          <div className={entries.head}>
            <div>
              <h1>{say.packages}</h1>
              <p className={entries.lead}>{say.lead}</p>
            </div>
            {may('admin') && items.length > 0 && <Button onClick={() => setCleaning(true)}>{say.cleanUp}</Button>}
          </div>
          {found.isPending && <Waiting shape="rows" what={say.thePackages} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          {running.map(({ digest, step, done, total }) => (
            <p key={digest} role="status">
              {say.progress(say.installing[step], done, total)}
            </p>
          ))}
          {found.isSuccess && items.length === 0 && running.length === 0 && (
            <Steps
              title={say.noneYet}
              action={
                <Button look="primary" onClick={() => navigate('/')}>
                  {say.openAgents}
                </Button>
              }
            >
              {say.nameThem(<strong>{say.field}</strong>, <code>requests==2.32.3</code>)}
              {say.runIt}
              {say.seeThem}
            </Steps>
          )}
          {items.length > 0 && (
            <>
              <p className={entries.lead}>{say.total(items.length, size)}</p>
              <DataTable
                label={say.installations}
                items={items}
                columns={columnsOf(now)}
                rowKey={({ digest }) => digest}
                words={({ packages, usedBy }) =>
                  [...packages, ...usedBy].map((one) => Object.values(one).join(' ')).join(' ')
                }
              />
            </>
          )}
          {cleaning && <CleanUpDialog onClose={() => setCleaning(false)} />}
        </section>
      </Column>
    </Page>
  );
}

const columnsOf = (now: number): TableColumn<Installed>[] => [
  {
    key: 'packages',
    title: say.packages,
    by: ({ packages }) => packages[0]?.name ?? '',
    cell: (one) => <Names installed={one} />,
  },
  { key: 'kind', title: say.language, by: ({ ecosystem }) => ecosystem, cell: (one) => say.ecosystems[one.ecosystem] },
  { key: 'size', title: say.size, by: ({ bytes: size }) => -size, cell: (one) => bytes(one.bytes) },
  { key: 'usedBy', title: say.usedBy, by: ({ usedBy }) => -usedBy.length, cell: (one) => <Users installed={one} /> },
  { key: 'used', title: say.lastUse, by: ({ usedAt }) => -Date.parse(usedAt), cell: ({ usedAt }) => ago(usedAt, now) },
];

const maxNames = 6;

function Names({ installed: { packages } }: { installed: Installed }) {
  const shown = packages.slice(0, maxNames).map(({ name, version }) => `${name} ${version}`);
  if (packages.length > maxNames) shown.push(say.more(packages.length - maxNames));
  return (
    <div className={css.names}>
      {shown.join(', ')}
      <details>
        <summary>{say.licences}</summary>
        <ul>
          {packages.map(({ name, version, license = '' }) => (
            <li key={`${name} ${version}`}>
              {say.licence(name, version, license === '' ? say.unknownLicence : license)}
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}

const maxUsers = 4;

function Users({ installed: { usedBy } }: { installed: Installed }) {
  if (usedBy.length === 0) return <small>{say.noVersion}</small>;
  return (
    <>
      {usedBy.slice(0, maxUsers).map(({ agent, version }) => (
        <div key={`${agent}@${version}`}>
          <Link href={agentUrl(agent, version)}>{`${agent}@${version}`}</Link>
        </div>
      ))}
      {usedBy.length > maxUsers && <small>{say.more(usedBy.length - maxUsers)}</small>}
    </>
  );
}
