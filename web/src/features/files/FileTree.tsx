import { useEffect, useLayoutEffect, useMemo, useRef, useState, type DragEvent, type KeyboardEvent } from 'react';
import type { Files } from '../../api/types';
import { classes } from '../../ui/classes';
import type { MenuEntry } from '../../ui/Menu';
import { useWindow } from '../../ui/useWindow';
import { fileTree as say } from '../../texts/files';
import { FileRow, folderOf, type RowHandlers } from './FileRow';
import css from './FilesPanel.module.css';
import { NameInput } from './NameInput';
import { pathFault, rowsOf, type Severity, type TreeRow } from './tree';

/** The actions of the tree. An undefined action is not available, for example in a published version. */
export interface TreeActions {
  open: (path: string) => void;
  rename: ((path: string) => void) | undefined;
  remove: ((path: string) => void) | undefined;
  search: () => void;
  /** Called when the user drops a row into a folder; '' is the root folder. */
  move: ((path: string, folder: string) => void) | undefined;
  upload: ((files: File[], folder: string) => void) | undefined;
  menu: (row: TreeRow) => MenuEntry[];
}

interface Props {
  files: Files;
  entrypoint: string;
  current: string | undefined;
  /** The path of the row that the user is renaming. */
  renaming: string | undefined;
  severities: ReadonlyMap<string, Severity>;
  onRenamed: (from: string, to: string | undefined) => void;
  actions: TreeActions;
}

const spare = 8;
const dragType = 'application/x-atelier-path';

/**
 * Shows the file tree with the keys of the WAI-ARIA pattern. The user can drag rows into folders and drop files from
 * outside of the browser. Only visible rows are drawn, plus the focused and the dragged row.
 */
export function FileTree({ files, entrypoint, current, renaming, severities, onRenamed, actions }: Props) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState<string>();
  const [target, setTarget] = useState<string>();
  const [dragged, setDragged] = useState<string>();
  const tree = useRef<HTMLDivElement>(null);
  const wanted = useRef<string>(undefined);
  const seen = useWindow(tree, '--row', spare);
  const paths = Object.keys(files);
  // Typing in a file changes no path, so the rows stay the same.
  const listed = paths.join('\n');
  const rows = useMemo(() => rowsOf(listed === '' ? [] : listed.split('\n'), closed), [listed, closed]);
  const focused = rows.find((r) => r.path === cursor) ?? rows.find((r) => r.path === current) ?? rows[0];

  const toggle = (path: string): void =>
    setClosed((now) => (now.has(path) ? new Set([...now].filter((p) => p !== path)) : new Set([...now, path])));
  const activate = (row: TreeRow): void => (row.kind === 'folder' ? toggle(row.path) : actions.open(row.path));
  const elementOf = (path: string) => tree.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`);
  // A row outside of the visible part gets the focus after it is drawn.
  const focusPath = (path: string): void => {
    setCursor(path);
    const element = elementOf(path);
    if (element) element.focus();
    else wanted.current = path;
  };
  const focusRow = (row: TreeRow | undefined): void => {
    if (row) focusPath(row.path);
  };
  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    elementOf(wanted.current)?.focus();
    wanted.current = undefined;
  });

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
    setDragged(undefined);
    // If a row is removed during a drag, it never gets the event dragend.
    if (e.dataTransfer.types.includes(dragType)) {
      if (dragged !== undefined) actions.move?.(dragged, folder);
      return;
    }
    const dropped = [...e.dataTransfer.files];
    if (dropped.length > 0) actions.upload?.(dropped, folder);
  };

  const handlers: RowHandlers = {
    press: (row) => {
      setCursor(row.path);
      activate(row);
    },
    focus: (row) => setCursor(row.path),
    drag: (e, row) => {
      setDragged(row.path);
      e.dataTransfer.setData(dragType, row.path);
      e.dataTransfer.effectAllowed = 'move';
    },
    dragEnd: () => {
      setDragged(undefined);
      setTarget(undefined);
    },
    over: (e, row) => over(e, folderOf(row)),
    drop: (e, row) => drop(e, folderOf(row)),
    menu: actions.menu,
  };
  const on = useLatest(handlers);

  return (
    <div
      className={classes(css.tree, target === '' && css.target)}
      role="tree"
      aria-label={say.files}
      ref={tree}
      onKeyDown={onKey}
      onDragOver={(e) => over(e, '')}
      onDragLeave={() => setTarget(undefined)}
      onDrop={(e) => drop(e, '')}
    >
      <div role="none" className={css.rows} style={{ height: heightOf(rows.length) }}>
        {rows.map((row, index) => {
          const drawn = index >= seen.first && index < seen.end;
          if (!drawn && row !== focused && row.path !== dragged && row.path !== renaming) return null;
          return renaming === row.path ? (
            <div key={row.path} className={css.renamed} style={{ top: heightOf(index) }}>
              <NameInput
                label={say.newPathOf(row.path)}
                value={row.path}
                fault={(path) =>
                  pathFault(
                    path,
                    paths.filter((p) => p !== row.path && !p.startsWith(`${row.path}/`)),
                  )
                }
                onDone={(to) => {
                  onRenamed(row.path, to);
                  // The field for the name had the focus. The row must get it before a renamed tab does.
                  setTimeout(() => focusPath(to ?? row.path));
                }}
              />
            </div>
          ) : (
            <FileRow
              key={row.path}
              row={row}
              top={heightOf(index)}
              entry={row.path === entrypoint}
              binary={typeof files[row.path] === 'object'}
              selected={row.path === current}
              focused={row === focused}
              target={target === row.path}
              movable={actions.move !== undefined}
              severity={severities.get(row.path)}
              on={on}
            />
          );
        })}
      </div>
    </div>
  );
}

const heightOf = (rows: number): string => `calc(var(--row) * ${rows})`;

/** A letter key moves to the next row whose name starts with the letter. */
function typeahead(e: KeyboardEvent, rows: TreeRow[], at: number, go: (row: TreeRow | undefined) => void) {
  if (e.key.length !== 1 || e.key === ' ') return undefined;
  const order = [...rows.slice(at + 1), ...rows.slice(0, at + 1)];
  const hit = order.find((r) => r.name.toLowerCase().startsWith(e.key.toLowerCase()));
  return hit && (() => go(hit));
}

/** These handlers do not change between renders. They call the functions of the latest render. */
function useLatest(handlers: RowHandlers): RowHandlers {
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  const [on] = useState<RowHandlers>(() => ({
    press: (row) => latest.current.press(row),
    focus: (row) => latest.current.focus(row),
    drag: (e, row) => latest.current.drag(e, row),
    dragEnd: () => latest.current.dragEnd(),
    over: (e, row) => latest.current.over(e, row),
    drop: (e, row) => latest.current.drop(e, row),
    menu: (row) => latest.current.menu(row),
  }));
  return on;
}
