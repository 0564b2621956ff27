import type { DragEvent, ReactNode } from 'react';
import { ArrowLeft } from 'lucide-react';
import { Link } from 'wouter';
import { ServerStatus } from './StatusLine';
import { Workbench } from './Workbench';
import { AgentsPanel } from './AgentsPanel';
import css from './Page.module.css';

/** Shows the frame of every screen without an editor. */
export function Page({ current, children }: { current?: string; children: ReactNode }) {
  return (
    <Workbench
      left={
        <div className={css.left}>
          <AgentsPanel {...(current === undefined ? {} : { current })} />
        </div>
      }
      main={children}
      status={<ServerStatus />}
    />
  );
}

interface ColumnProps {
  onDrop?: (file: File) => void;
  /** The page above this one, as a link at the top. */
  back?: { to: string; label: string } | undefined;
  /** Whether the page uses the whole width of the window, for tables. */
  wide?: boolean;
  children: ReactNode;
}

/** A page with one scrolling column. The user can drop files on it. */
export function Column({ onDrop, back, wide = false, children }: ColumnProps) {
  const drop = onDrop && {
    onDragOver: (e: DragEvent) => e.preventDefault(),
    onDrop: (e: DragEvent) => {
      e.preventDefault();
      const [file] = e.dataTransfer.files;
      if (file) onDrop(file);
    },
  };
  return (
    <div className={css.page} {...drop}>
      <div className={css.inner} data-wide={wide}>
        {back && (
          <Link href={back.to} className={css.back}>
            <ArrowLeft size={14} aria-hidden />
            <span>{back.label}</span>
          </Link>
        )}
        {children}
      </div>
    </div>
  );
}
