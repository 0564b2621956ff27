import { useRights } from '../api/rights';
import type { OverlayDiff } from '../api/types';
import { Lines } from './Lines';
import changes from './Changes.module.css';
import { projectsPage as say } from '../texts/projects';
import { Button } from '../ui/Button';
import entries from '../ui/Entries.module.css';

export type Decide = (decision: 'accept' | 'reject', files?: string[]) => void;

interface Props {
  diff: OverlayDiff;
  busy: boolean;
  decide: Decide;
  /** No decision is possible here. */
  fixed?: boolean;
}

/** The changed files of an overlay, to accept or reject whole or one by one. */
export function Differences({ diff, busy, decide, fixed = false }: Props) {
  const { overlay, moved, files } = diff;
  const { may, why } = useRights();
  const allowed = may('write');
  const off = { disabled: busy || !allowed, title: allowed ? undefined : why('write') };
  const conflict = files.some((file) => file.status === 'open' && file.outcome === 'conflict');
  const open = overlay.status === 'open' && !fixed;
  return (
    <>
      {moved && open && <p role="status">{say.moved}</p>}
      {files.map((file) => (
        <File key={file.path} file={file} decide={decide} off={off} open={open} />
      ))}
      {open && (
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
    </>
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
