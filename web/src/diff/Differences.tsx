import { Info, TriangleAlert } from 'lucide-react';
import { useRights } from '../api/rights';
import type { OverlayDiff } from '../api/types';
import { DiffFile } from './DiffFile';
import { Lines } from './Lines';
import { OverlayState } from './OverlayState';
import changes from './Changes.module.css';
import { projectsPage as say } from '../texts/projects';
import { Button } from '../ui/Button';
import entries from '../ui/Entries.module.css';

export type Decide = (decision: 'accept' | 'reject', files?: string[]) => void;

interface Props {
  diff: OverlayDiff;
  busy: boolean;
  decide: Decide;
}

/** The buttons with which the user decides about all open files of an overlay. */
export function DecideAll({ diff, busy, decide }: Props) {
  const { may, why } = useRights();
  const allowed = may('write');
  const off = { disabled: busy || !allowed, title: allowed ? undefined : why('write') };
  const conflict = diff.files.some((file) => file.status === 'open' && file.outcome === 'conflict');
  return (
    <>
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
    </>
  );
}

/**
 * Shows the changed files of an overlay. If there are several, the user can also accept or reject each file separately.
 */
export function Differences({ diff, busy, decide, fixed = false }: Props & { fixed?: boolean }) {
  const { overlay, moved, files } = diff;
  const { may, why } = useRights();
  const allowed = may('write');
  const off = { disabled: busy || !allowed, title: allowed ? undefined : why('write') };
  const open = overlay.status === 'open' && !fixed;
  return (
    <div className={changes.changes}>
      {moved && open && <p role="status">{say.moved}</p>}
      {files.map((file) => (
        <File key={file.path} file={file} decide={decide} off={off} open={open} alone={files.length === 1} />
      ))}
    </div>
  );
}

interface FileProps {
  file: OverlayDiff['files'][number];
  decide: Decide;
  off: { disabled: boolean; title: string | undefined };
  open: boolean;
  alone: boolean;
}

function File({ file, decide, off, open, alone }: FileProps) {
  const { path, kind, status, outcome, unified, project, binary } = file;
  const both = project !== undefined && project !== '' && status === 'open';
  const acts =
    open && status === 'open' ? (
      !alone && (
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
      )
    ) : (
      <span role="status">
        <OverlayState status={status} />
      </span>
    );
  return (
    <DiffFile path={path} kind={kind} unified={binary === true ? '' : unified} rank="h2" acts={acts}>
      {status === 'open' && outcome !== 'clean' && (
        <p role="status" className={changes.note} data-look={outcome === 'conflict' ? 'warn' : 'quiet'}>
          {outcome === 'conflict' ? <TriangleAlert size={14} aria-hidden /> : <Info size={14} aria-hidden />}
          {say.outcomes[outcome]}
        </p>
      )}
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
    </DiffFile>
  );
}
