import { Binary, ChevronDown, ChevronRight, CircleX, Ellipsis, FileCode, TriangleAlert } from 'lucide-react';
import { memo, useRef, useState, type DragEvent, type SyntheticEvent } from 'react';
import { IconButton } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { Menu, type MenuEntry } from '../../ui/Menu';
import { fileRow as say } from '../../texts/files';
import css from './FilesPanel.module.css';
import type { Severity, TreeRow } from './tree';

/** Events that a row sends to the tree. */
export interface RowHandlers {
  press: (row: TreeRow) => void;
  /** The row got the focus without a key of the tree, for example by a drag or a screen reader. */
  focus: (row: TreeRow) => void;
  drag: (e: DragEvent, row: TreeRow) => void;
  dragEnd: () => void;
  over: (e: DragEvent, row: TreeRow) => void;
  drop: (e: DragEvent, row: TreeRow) => void;
  menu: (row: TreeRow) => MenuEntry[];
}

interface Props {
  row: TreeRow;
  /** The nesting depth. */
  top: string;
  entry: boolean;
  binary: boolean;
  selected: boolean;
  focused: boolean;
  /** Whether the dragged item would be dropped here. */
  target: boolean;
  movable: boolean;
  /** The most severe problem in the file or folder. */
  severity: Severity | undefined;
  on: RowHandlers;
}

/** Shows a row for a file or folder. It renders again only when its own data changes. */
export const FileRow = memo(function FileRow({
  row,
  top,
  entry,
  binary,
  selected,
  focused,
  target,
  movable,
  severity,
  on,
}: Props) {
  const [pointed, setPointed] = useState(false);
  const [menuOpen, setMenuOpen] = useState(false);
  const item = useRef<HTMLDivElement>(null);
  // A folder of a published version has no actions.
  const acts = movable || row.kind === 'file';
  return (
    <div
      ref={item}
      role="treeitem"
      data-path={row.path}
      aria-label={say.labelled(row.name, entry, binary, severity)}
      aria-level={row.level}
      aria-setsize={row.setSize}
      aria-posinset={row.position}
      aria-expanded={row.kind === 'folder' ? row.open : undefined}
      aria-selected={selected}
      tabIndex={focused ? 0 : -1}
      title={row.path}
      className={classes(css.row, target && css.target)}
      data-severity={severity}
      style={{ top, paddingInlineStart: 8 + (row.level - 1) * 16 }}
      draggable={movable}
      onDragStart={(e) => on.drag(e, row)}
      onDragEnd={on.dragEnd}
      onDragOver={(e) => on.over(e, row)}
      onDrop={(e) => on.drop(e, row)}
      onPointerEnter={() => setPointed(true)}
      onFocus={() => on.focus(row)}
      onClick={() => on.press(row)}
      onContextMenu={(e) => {
        e.preventDefault();
        setMenuOpen(acts);
      }}
    >
      <Icon row={row} binary={binary} />
      {/* A right-to-left name starts at the same side as the others. */}
      <bdi className={css.name}>{row.name}</bdi>
      {severity && (
        <span className={css.mark} aria-hidden>
          {severity === 'error' ? <CircleX size={12} /> : <TriangleAlert size={12} />}
        </span>
      )}
      {entry && <span className={css.entry}> {say.entry}</span>}
      {/* The menu is rendered only for the row with the focus or the pointer, so that long lists stay fast. */}
      {acts && (focused || pointed || menuOpen) && (
        <RowMenu row={row} on={on} opened={{ open: menuOpen, onOpen: setMenuOpen }} back={() => item.current} />
      )}
    </div>
  );
});

interface RowMenuProps {
  row: TreeRow;
  on: RowHandlers;
  opened: { open: boolean; onOpen: (open: boolean) => void };
  back: () => HTMLElement | null;
}

function RowMenu({ row, on, opened, back }: RowMenuProps) {
  const keep = (e: SyntheticEvent): void => e.stopPropagation();
  return (
    // Menu events must not reach the row.
    <span onClick={keep} onKeyDown={keep} onContextMenu={keep}>
      <Menu
        trigger={
          <IconButton small className={css.more} label={say.actionsFor(row.path)} tabIndex={-1}>
            <Ellipsis size={16} aria-hidden />
          </IconButton>
        }
        entries={() => on.menu(row)}
        opened={opened}
        back={back}
      />
    </span>
  );
}

function Icon({ row, binary }: { row: TreeRow; binary: boolean }) {
  if (row.kind === 'file') return binary ? <Binary size={14} aria-hidden /> : <FileCode size={14} aria-hidden />;
  return row.open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />;
}

/** Returns the folder into which an item is moved when the user drops it on this row. */
export const folderOf = ({ kind, path }: TreeRow): string =>
  kind === 'folder' ? path : path.slice(0, Math.max(0, path.lastIndexOf('/')));
