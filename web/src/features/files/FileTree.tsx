import { Binary, ChevronDown, ChevronRight, Ellipsis, FileCode } from 'lucide-react';
import { useRef, useState, type DragEvent, type KeyboardEvent, type RefObject } from 'react';
import type { Files } from '../../api/types';
import { IconButton } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { Menu, type MenuEntry } from '../../ui/Menu';
import css from './FilesPanel.module.css';
import { NameInput } from './NameInput';
import { pathFault, rowsOf, type TreeRow } from './tree';

/** What a person may do with the tree; what is undefined a published version does not allow. */
export interface TreeActions {
  open: (path: string) => void;
  rename: ((path: string) => void) | undefined;
  remove: ((path: string) => void) | undefined;
  search: () => void;
  /** A row was dropped into a folder; the empty folder is the agent itself. */
  move: ((path: string, folder: string) => void) | undefined;
  upload: ((files: File[], folder: string) => void) | undefined;
  menu: (row: TreeRow) => MenuEntry[];
}

interface Props {
  tree: RefObject<HTMLDivElement | null>;
  files: Files;
  entrypoint: string;
  current: string | undefined;
  /** The path whose row is a field now. */
  renaming: string | undefined;
  onRenamed: (from: string, to: string | undefined) => void;
  actions: TreeActions;
}

const dragType = 'application/x-atelier-path';

/** Files as a tree, with the keys of the WAI-ARIA pattern; rows can be dragged into folders, files dropped from outside. */
export function FileTree({ tree, files, entrypoint, current, renaming, onRenamed, actions }: Props) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState<string>();
  const [pointed, setPointed] = useState<string>();
  const [target, setTarget] = useState<string>();
  const dragged = useRef<string>(undefined);
  const paths = Object.keys(files);
  const rows = rowsOf(paths, closed);
  const focused = rows.find((r) => r.path === cursor) ?? rows.find((r) => r.path === current) ?? rows[0];

  const toggle = (path: string): void =>
    setClosed((now) => (now.has(path) ? new Set([...now].filter((p) => p !== path)) : new Set([...now, path])));
  const activate = (row: TreeRow): void => (row.kind === 'folder' ? toggle(row.path) : actions.open(row.path));
  const focusRow = (row: TreeRow | undefined): void => {
    if (!row) return;
    setCursor(row.path);
    tree.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(row.path)}"]`)?.focus();
  };

  const onKey = (e: KeyboardEvent): void => {
    if (!focused) return;
    if ((e.ctrlKey || e.metaKey) && e.key === 'f') {
      e.preventDefault();
      return actions.search();
    }
    const at = rows.indexOf(focused);
    const act: Record<string, (() => void) | undefined> = {
      ArrowDown: () => focusRow(rows[at + 1]),
      ArrowUp: () => focusRow(rows[at - 1]),
      Home: () => focusRow(rows[0]),
      End: () => focusRow(rows.at(-1)),
      ArrowRight: () => {
        if (focused.kind === 'folder') return focused.open ? focusRow(rows[at + 1]) : toggle(focused.path);
      },
      ArrowLeft: () => {
        if (focused.kind === 'folder' && focused.open) return toggle(focused.path);
        focusRow(rows.findLast((r) => r.kind === 'folder' && focused.path.startsWith(`${r.path}/`)));
      },
      Enter: () => activate(focused),
      ' ': () => activate(focused),
      F2: actions.rename && (() => actions.rename?.(focused.path)),
      Delete: actions.remove && (() => actions.remove?.(focused.path)),
    };
    const run = act[e.key] ?? typeahead(e, rows, at, focusRow);
    if (!run || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    run();
  };

  const over = (e: DragEvent, folder: string): void => {
    const fits = e.dataTransfer.types.includes(dragType) ? actions.move : actions.upload;
    if (!fits) return;
    e.preventDefault();
    e.stopPropagation();
    setTarget(folder);
  };
  const drop = (e: DragEvent, folder: string): void => {
    e.preventDefault();
    e.stopPropagation();
    setTarget(undefined);
    const path = dragged.current;
    dragged.current = undefined;
    if (path !== undefined) return actions.move?.(path, folder);
    const dropped = [...e.dataTransfer.files];
    if (dropped.length > 0) actions.upload?.(dropped, folder);
  };

  return (
    <div
      className={classes(css.tree, target === '' && css.target)}
      role="tree"
      aria-label="Files"
      ref={tree}
      onKeyDown={onKey}
      onDragOver={(e) => over(e, '')}
      onDragLeave={() => setTarget(undefined)}
      onDrop={(e) => drop(e, '')}
    >
      {rows.map((row) =>
        renaming === row.path ? (
          <NameInput
            key={row.path}
            label={`New path of ${row.path}`}
            value={row.path}
            fault={(path) =>
              pathFault(
                path,
                paths.filter((p) => p !== row.path && !p.startsWith(`${row.path}/`)),
              )
            }
            onDone={(to) => onRenamed(row.path, to)}
          />
        ) : (
          <div
            key={row.path}
            role="treeitem"
            data-path={row.path}
            aria-label={labelOf(row, entrypoint, files)}
            aria-level={row.level}
            aria-setsize={row.setSize}
            aria-posinset={row.position}
            aria-expanded={row.kind === 'folder' ? row.open : undefined}
            aria-selected={row.path === current}
            tabIndex={row === focused ? 0 : -1}
            title={row.path}
            className={classes(css.row, target === row.path && css.target)}
            style={{ paddingLeft: 8 + (row.level - 1) * 16 }}
            draggable={actions.move !== undefined}
            onDragStart={(e) => {
              dragged.current = row.path;
              e.dataTransfer.setData(dragType, row.path);
              e.dataTransfer.effectAllowed = 'move';
            }}
            onDragEnd={() => {
              dragged.current = undefined;
              setTarget(undefined);
            }}
            onDragOver={(e) => over(e, folderOf(row))}
            onDrop={(e) => drop(e, folderOf(row))}
            onPointerEnter={() => setPointed(row.path)}
            onClick={() => {
              setCursor(row.path);
              activate(row);
            }}
          >
            <RowIcon row={row} binary={typeof files[row.path] === 'object'} />
            <span className={css.name}>{row.name}</span>
            {row.path === entrypoint && <span className={css.entry}> entry</span>}
            {/* Only where it can be reached, so that many files are no burden. */}
            {(row === focused || row.path === pointed) && <RowMenu row={row} entries={actions.menu(row)} />}
          </div>
        ),
      )}
    </div>
  );
}

function RowMenu({ row, entries }: { row: TreeRow; entries: MenuEntry[] }) {
  return (
    // Clicks on the menu must not reach the row.
    <span onClick={(e) => e.stopPropagation()} onKeyDown={(e) => e.stopPropagation()}>
      <Menu
        trigger={
          <IconButton small className={css.more} label={`Actions for ${row.path}`} tabIndex={-1}>
            <Ellipsis size={16} aria-hidden />
          </IconButton>
        }
        entries={entries}
      />
    </span>
  );
}

function RowIcon({ row, binary }: { row: TreeRow; binary: boolean }) {
  if (row.kind === 'file') return binary ? <Binary size={14} aria-hidden /> : <FileCode size={14} aria-hidden />;
  return row.open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />;
}

function labelOf({ path, name }: TreeRow, entrypoint: string, files: Files): string {
  const more = [path === entrypoint && 'entry', typeof files[path] === 'object' && 'binary'].filter(Boolean);
  return [name, ...more].join(' ');
}

/** Where something lands that is dropped on the row. */
const folderOf = ({ kind, path }: TreeRow): string =>
  kind === 'folder' ? path : path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** A letter moves to the next row that begins with it. */
function typeahead(e: KeyboardEvent, rows: TreeRow[], at: number, go: (row: TreeRow | undefined) => void) {
  if (e.key.length !== 1 || e.key === ' ') return undefined;
  const order = [...rows.slice(at + 1), ...rows.slice(0, at + 1)];
  const hit = order.find((r) => r.name.toLowerCase().startsWith(e.key.toLowerCase()));
  return hit && (() => go(hit));
}
