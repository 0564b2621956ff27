import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { explain } from '../../api/http';
import { refreshProjects, useOverlayDiff } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { OverlayDiff } from '../../api/types';
import { decideOverlay } from '../../api/verbs';
import { Lines } from '../../diff/Lines';
import changes from '../../diff/Changes.module.css';
import { Column, Page } from '../../frame/Page';
import { notify } from '../../state/notices';
import { moment } from '../../texts/format';
import { projectsPage as say } from '../../texts/projects';
import { Button } from '../../ui/Button';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';

/** The changes that one run proposes, to accept or reject. */
export function OverlayPage({ project, id }: { project: string; id: string }) {
  const found = useOverlayDiff(project, id);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        {found.isPending && <Waiting shape="page" what={say.theChange} retry />}
        <NotLoaded found={found} why={say.notLoaded} />
        {found.data && <Review project={project} diff={found.data} />}
      </Column>
    </Page>
  );
}

type Decide = (decision: 'accept' | 'reject', files?: string[]) => void;

function Review({ project, diff }: { project: string; diff: OverlayDiff }) {
  const { overlay, moved, files } = diff;
  const [busy, setBusy] = useState(false);
  const { may, why } = useRights();
  const allowed = may('write');
  const answer = async (decision: 'accept' | 'reject', paths?: string[]): Promise<void> => {
    setBusy(true);
    try {
      await decideOverlay(project, overlay.id, decision, paths);
      notify('done', decision === 'accept' ? say.accepted : say.rejected);
    } catch (error) {
      notify('failed', explain(error));
    }
    setBusy(false);
    await refreshProjects();
  };
  const decide: Decide = (decision, paths) => void answer(decision, paths);
  const off = { disabled: busy || !allowed, title: allowed ? undefined : why('write') };
  const conflict = files.some((file) => file.status === 'open' && file.outcome === 'conflict');
  return (
    <section className={entries.section}>
      <div>
        <Link href={`/projects/${encodeURIComponent(project)}`}>{say.backTo(project)}</Link>
        <h1>{overlay.summary === '' ? say.noSummary : overlay.summary}</h1>
        <p className={entries.lead}>
          {[overlay.agent, moment(overlay.createdAt), say.states[overlay.status]].filter(Boolean).join(' · ')}
        </p>
        <Link href={`/runs/${encodeURIComponent(overlay.runId)}`}>{say.openRun}</Link>
      </div>
      {moved && overlay.status === 'open' && <p role="status">{say.moved}</p>}
      {files.map((file) => (
        <File key={file.path} file={file} decide={decide} off={off} open={overlay.status === 'open'} />
      ))}
      {overlay.status === 'open' && (
        <div className={entries.acts}>
          <Button look="danger" {...off} onClick={() => decide('reject')}>
            {say.reject}
          </Button>
          <Button
            look="primary"
            disabled={off.disabled || conflict}
            title={conflict ? say.conflicts : off.title}
            onClick={() => decide('accept')}
          >
            {say.accept}
          </Button>
        </div>
      )}
    </section>
  );
}

interface FileProps {
  file: OverlayDiff['files'][number];
  decide: Decide;
  off: { disabled: boolean; title: string | undefined };
  open: boolean;
}

function File({ file, decide, off, open }: FileProps) {
  const { path, kind, status, outcome, unified, project, binary } = file;
  const both = project !== undefined && project !== '' && status === 'open';
  return (
    <section aria-label={path} className={entries.section}>
      <div className={entries.head}>
        <h2>
          {path} {kind}
        </h2>
        {open && status === 'open' ? (
          <div className={entries.acts}>
            <Button {...off} aria-label={say.rejectFile(path)} onClick={() => decide('reject', [path])}>
              {say.rejectOne}
            </Button>
            {outcome !== 'conflict' && (
              <Button {...off} aria-label={say.acceptFile(path)} onClick={() => decide('accept', [path])}>
                {say.acceptOne}
              </Button>
            )}
          </div>
        ) : (
          <span role="status">{say.states[status]}</span>
        )}
      </div>
      {status === 'open' && outcome !== 'clean' && <p role="status">{say.outcomes[outcome]}</p>}
      <div className={changes.changes}>
        {both && (
          <div>
            <h3>{say.inProject}</h3>
            <div className={changes.scroll} tabIndex={0} role="region" aria-label={say.theirs(path)}>
              <Lines text={project} />
            </div>
          </div>
        )}
        {binary === true || unified === '' ? (
          <p>{say.binary}</p>
        ) : (
          <div>
            {both && <h3>{say.inOverlay}</h3>}
            <div className={changes.scroll} tabIndex={0} role="region" aria-label={say.ours(path)}>
              <Lines text={unified} />
            </div>
          </div>
        )}
      </div>
    </section>
  );
}
