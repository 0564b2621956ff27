import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { explain } from '../../api/http';
import { decideOverlay, overlayUrl, refreshProjects, useOverlayDiff, useOverlays } from '../../api/projects';
import type { OverlayDiff } from '../../api/types';
import { Column, Page } from '../../frame/Page';
import { usePhone } from '../../state/layout';
import { notify } from '../../state/notices';
import { moment } from '../../texts/format';
import { projectsPage as say } from '../../texts/projects';
import { Button } from '../../ui/Button';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import bar from '../../diff/Bar.module.css';
import { OverlayState } from '../../diff/OverlayState';
import { DecideAll, Differences, type Decide } from '../../diff/Differences';

/** Shows the changes that one run proposes. The user accepts or rejects them. */
export function OverlayPage({ project, id }: { project: string; id: string }) {
  const found = useOverlayDiff(project, id);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column back={{ to: `/projects/${encodeURIComponent(project)}`, label: say.backTo(project) }}>
        {found.isPending && <Waiting shape="page" what={say.theChange} retry />}
        <NotLoaded found={found} why={say.notLoaded} />
        {found.data && <Review project={project} diff={found.data} />}
      </Column>
    </Page>
  );
}

function Review({ project, diff }: { project: string; diff: OverlayDiff }) {
  const { overlay } = diff;
  const [busy, setBusy] = useState(false);
  const phone = usePhone();
  const [, navigate] = useLocation();
  const waiting = useOverlays(project).data?.items.filter(({ status }) => status === 'open');
  const next = overlay.status === 'open' ? undefined : waiting?.at(-1);
  const answer = async (decision: 'accept' | 'reject', paths?: string[]): Promise<void> => {
    setBusy(true);
    try {
      await decideOverlay(project, overlay, decision, paths);
      notify('done', decision === 'accept' ? say.accepted : say.rejected);
    } catch (error) {
      notify('failed', explain(error));
    }
    setBusy(false);
    await refreshProjects();
  };
  const decide: Decide = (decision, paths) => void answer(decision, paths);
  return (
    <section className={entries.section}>
      <div className={entries.head}>
        <div className={entries.title}>
          <h1>{overlay.summary === '' ? say.noSummary : overlay.summary}</h1>
          <p className={entries.facts}>
            <OverlayState status={overlay.status} />
            {overlay.agent !== undefined && overlay.agent !== '' && (
              <Link href={`/a/${encodeURIComponent(overlay.agent)}`}>
                {[overlay.agent, overlay.version].filter(Boolean).join('@')}
              </Link>
            )}
            <span>{say.fileCount(diff.files.length)}</span>
            <span>{moment(overlay.createdAt)}</span>
            {overlay.decider && <span>{say.decidedBy(overlay.decider.name)}</span>}
            <Link href={`/runs/${encodeURIComponent(overlay.runId)}`}>{say.openRun}</Link>
          </p>
        </div>
        {overlay.status === 'open' && !phone && (
          <div className={entries.acts}>
            <DecideAll diff={diff} busy={busy} decide={decide} />
          </div>
        )}
        {next && (
          <div className={entries.acts}>
            <Button look="primary" onClick={() => navigate(overlayUrl(project, next.id))}>
              {say.reviewNext}
            </Button>
          </div>
        )}
      </div>
      {overlay.status === 'open' && <p className={entries.lead}>{say.aboutOpen(<strong>{project}</strong>)}</p>}
      <Differences diff={diff} busy={busy} decide={decide} />
      {overlay.status === 'open' && phone && (
        <div className={bar.bar} data-bar="decide">
          <DecideAll diff={diff} busy={busy} decide={decide} />
        </div>
      )}
    </section>
  );
}
