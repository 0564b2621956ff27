import type { DragEvent, ReactNode } from 'react';
import { Brand, Grow, HeaderTools, Places } from './Brand';
import { ServerStatus } from './StatusLine';
import { Workbench } from './Workbench';
import { AgentsPanel } from './AgentsPanel';
import css from './Page.module.css';

/** Shows the frame of every screen without an editor. */
export function Page({ current, head, children }: { current?: string; head?: ReactNode; children: ReactNode }) {
  return (
    <Workbench
      header={
        <>
          <Brand />
          <Places crowded={head !== undefined} />
          {head}
          <Grow />
          <HeaderTools />
        </>
      }
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
  /** Whether the page uses the whole width of the window, for tables. */
  wide?: boolean;
  children: ReactNode;
}

/** A page with one scrolling column. The user can drop files on it. */
export function Column({ onDrop, wide = false, children }: ColumnProps) {
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
        {children}
      </div>
    </div>
  );
}
