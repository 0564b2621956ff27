import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keys, refreshPackages } from '../../api/queries';
import type { ResolvedPackages } from '../../api/types';
import { listInstalledPackages, resolvePackages } from '../../api/verbs';
import { packagesSection as say } from '../../texts/config';
import { Button } from '../../ui/Button';
import { useTask } from '../../ui/useTask';
import { problemAt, useOpenAgent } from '../../agent/openAgent';
import { AddPackage } from './AddPackage';
import css from './ConfigPanel.module.css';
import { LinesField } from './LinesField';
import { Section } from './Section';

/** Edits the packages that the program imports, and shows their exact versions. */
export function PackagesSection() {
  const { name, fields, save, session } = useOpenAgent();
  const { packages, language } = fields;
  const [found, setFound] = useState<{ list: string; resolved: ResolvedPackages; installed?: boolean }>();
  const [installing, setInstalling] = useState(false);
  const progress = useQuery({
    queryKey: [...keys.installedPackages, 'running'],
    enabled: installing,
    refetchInterval: 300,
    gcTime: 0,
    queryFn: async () => (await listInstalledPackages()).running[0] ?? null,
  }).data;
  const task = useTask();
  const fault = problemAt(save, '/packages');
  const list = packages.join('\n');
  const exact = found?.list === list ? found.resolved : undefined;
  const resolve = (renew: boolean): void => {
    if (!session) return;
    task.run(async () => {
      const resolved = await session.withRevision((revision) => resolvePackages(name, revision, { renew }));
      setFound({ list, resolved });
    });
  };
  const install = (): void => {
    if (!session) return;
    setInstalling(true);
    task.run(async () => {
      try {
        const resolved = await session.withRevision((revision) => resolvePackages(name, revision, { install: true }));
        setFound({ list, resolved, installed: true });
      } finally {
        setInstalling(false);
        await refreshPackages();
      }
    });
  };
  return (
    <Section
      id="packages"
      title={say.packages}
      summary={packages.length === 0 ? say.none : say.packagesNamed(packages.length)}
      wrong={fault !== undefined}
    >
      <LinesField
        id="packages"
        label={say.oneALine}
        hint={say.hint}
        placeholder={language === 'python' ? say.pythonExample : say.npmExample}
        error={fault}
        lines={packages}
        onChange={session && ((next) => session.editDraft({ packages: next }))}
      />
      {session && (
        <AddPackage
          language={language}
          onAdd={(entry) =>
            session.editDraft({ packages: [...packages.filter((one) => nameOf(one) !== nameOf(entry)), entry] })
          }
        />
      )}
      {session && packages.length > 0 && (
        <div className={css.buttons}>
          <Button disabled={task.busy || save.kind !== 'saved'} onClick={() => resolve(false)}>
            {task.busy ? say.resolving : say.resolve}
          </Button>
          <Button disabled={task.busy || save.kind !== 'saved'} onClick={install}>
            {say.install}
          </Button>
          {exact && (
            <Button disabled={task.busy} onClick={() => resolve(true)}>
              {say.renew}
            </Button>
          )}
        </div>
      )}
      {installing && progress && <p role="status">{say.installing(progress.step, progress.done, progress.total)}</p>}
      {exact && found?.installed === true && <p role="status">{say.installed}</p>}
      {task.fault !== undefined && (
        <p role="alert" className={css.error}>
          {task.fault}
        </p>
      )}
      {exact?.lock && (
        <ul className={css.secrets} aria-label={say.exactPackages}>
          {exact.lock.packages.map((p) => {
            const change = exact.changes.find((c) => c.name === p.name && c.after === p.version);
            return (
              <li key={`${p.path ?? ''} ${p.name}`}>
                <code>{p.name}</code>
                <span className={css.hint}>
                  {change && exact.comparedWith !== undefined ? say.changed(change.before, p.version) : p.version}
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </Section>
  );
}

/** Returns the name in an entry such as requests==2.32.3, pydantic[email]>=2 or @acme/tools@^1. */
const nameOf = (entry: string): string => /^@?[^\s@=<>~!;[]+/.exec(entry.trim())?.[0].toLowerCase() ?? entry;
