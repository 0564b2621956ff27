import { ChevronDown, ChevronRight, Ellipsis, FileCode, FilePlus } from 'lucide-react';
import { useRef, useState, type KeyboardEvent } from 'react';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { IconButton } from '../../ui/Button';
import { Menu, type MenuEntry } from '../../ui/Menu';
import panel from '../../ui/Panel.module.css';
import { useOpenAgent } from '../agents/openAgent';
import { addFile, removePath, renamePath } from './edits';
import css from './FilesPanel.module.css';
import { NameInput } from './NameInput';
import { pathFault, rowsOf, type TreeRow } from './tree';

interface Props {
  current: string | undefined;
  onOpen: (path: string) => void;
  onRenamed: (from: string, to: string) => void;
}

type Editing = { kind: 'none' } | { kind: 'new' } | { kind: 'rename'; path: string } | { kind: 'delete'; path: string };

/** The files of the open agent as a tree; a draft's can be made, renamed and deleted. */
export function FilesPanel({ current, onOpen, onRenamed }: Props) {
  const { fields, session } = useOpenAgent();
  const { files, entrypoint } = fields;
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [editing, setEditing] = useState<Editing>({ kind: 'none' });
  const [cursor, setCursor] = useState<string>();
  const tree = useRef<HTMLDivElement>(null);
  const paths = Object.keys(files);
  const rows = rowsOf(paths, closed);
  const focused = rows.find((r) => r.path === cursor) ?? rows.find((r) => r.path === current) ?? rows[0];

  const toggle = (path: string): void =>
    setClosed((now) => (now.has(path) ? new Set([...now].filter((p) => p !== path)) : new Set([...now, path])));
  const activate = (row: TreeRow): void => (row.kind === 'folder' ? toggle(row.path) : onOpen(row.path));
  const focusRow = (row: TreeRow | undefined): void => {
    if (!row) return;
    setCursor(row.path);
    tree.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(row.path)}"]`)?.focus();
  };
  const rename = (from: string, to: string | undefined): void => {
    setEditing({ kind: 'none' });
    if (to === undefined) return;
    session?.editDraft(renamePath(files, entrypoint, from, to));
    onRenamed(from, to);
  };
  const create = (path: string | undefined): void => {
    setEditing({ kind: 'none' });
    if (path === undefined) return;
    session?.editDraft(addFile(files, path));
    onOpen(path);
  };

  const onKey = (e: KeyboardEvent): void => {
    if (!focused) return;
    const at = rows.indexOf(focused);
    const act: Record<string, (() => void) | undefined> = {
      ArrowDown: () => focusRow(rows[at + 1]),
      ArrowUp: () => focusRow(rows[at - 1]),
      Home: () => focusRow(rows[0]),
      End: () => focusRow(rows.at(-1)),
      ArrowRight: () => (focused.kind === 'folder' && !focused.open ? toggle(focused.path) : focusRow(rows[at + 1])),
      ArrowLeft: () =>
        focused.kind === 'folder' && focused.open
          ? toggle(focused.path)
          : focusRow(rows.find((r) => r.kind === 'folder' && focused.path.startsWith(`${r.path}/`))),
      Enter: () => activate(focused),
      F2: session && (() => setEditing({ kind: 'rename', path: focused.path })),
      Delete: session && (() => setEditing({ kind: 'delete', path: focused.path })),
    };
    const run = act[e.key] ?? typeahead(e, rows, at, focusRow);
    if (!run || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    run();
  };

  const actions = (row: TreeRow): MenuEntry[] => [
    ...(row.kind === 'file' && row.path !== entrypoint
      ? [
          {
            kind: 'item' as const,
            label: 'Make it the entrypoint',
            run: () => session?.editDraft({ entrypoint: row.path }),
          },
        ]
      : []),
    {
      kind: 'item',
      label: 'Rename',
      keys: 'F2',
      run: () => setTimeout(() => setEditing({ kind: 'rename', path: row.path })),
    },
    { kind: 'rule' },
    {
      kind: 'item',
      label: 'Delete…',
      keys: 'Del',
      danger: true,
      run: () => setTimeout(() => setEditing({ kind: 'delete', path: row.path })),
    },
  ];

  return (
    <section className={css.panel} aria-label="Files">
      <div className={panel.head}>
        <h2 className={panel.title}>Files</h2>
        {session && (
          <IconButton small label="New file" onClick={() => setEditing({ kind: 'new' })}>
            <FilePlus size={16} aria-hidden />
          </IconButton>
        )}
      </div>
      {editing.kind === 'new' && (
        <NameInput label="Path of the new file" value="" fault={(path) => pathFault(path, paths)} onDone={create} />
      )}
      <div className={css.tree} role="tree" aria-label="Files" ref={tree} onKeyDown={onKey}>
        {rows.map((row) =>
          editing.kind === 'rename' && editing.path === row.path ? (
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
              onDone={(to) => rename(row.path, to)}
            />
          ) : (
            <div
              key={row.path}
              role="treeitem"
              data-path={row.path}
              aria-label={row.path === entrypoint ? `${row.name} entry` : row.name}
              aria-level={row.level}
              aria-setsize={row.setSize}
              aria-posinset={row.position}
              aria-expanded={row.kind === 'folder' ? row.open : undefined}
              aria-selected={row.path === current}
              tabIndex={row === focused ? 0 : -1}
              className={css.row}
              style={{ paddingLeft: 8 + (row.level - 1) * 16 }}
              onClick={() => {
                setCursor(row.path);
                activate(row);
              }}
            >
              <RowIcon row={row} />
              <span className={css.name}>{row.name}</span>
              {row.path === entrypoint && <span className={css.entry}> entry</span>}
              {session && (
                // Clicks on the menu must not reach the row.
                <span onClick={(e) => e.stopPropagation()} onKeyDown={(e) => e.stopPropagation()}>
                  <Menu
                    trigger={
                      <IconButton small className={css.more} label={`Actions for ${row.path}`} tabIndex={-1}>
                        <Ellipsis size={16} aria-hidden />
                      </IconButton>
                    }
                    entries={actions(row)}
                  />
                </span>
              )}
            </div>
          ),
        )}
      </div>
      {editing.kind === 'delete' && (
        <ConfirmDialog
          title={`Delete ${editing.path}?`}
          about="The draft loses it at once; published versions keep theirs."
          verb="Delete"
          onClose={() => setEditing({ kind: 'none' })}
          onConfirm={() => session?.editDraft(removePath(files, editing.path))}
        />
      )}
    </section>
  );
}

function RowIcon({ row }: { row: TreeRow }) {
  if (row.kind === 'file') return <FileCode size={14} aria-hidden />;
  return row.open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />;
}

/** A letter moves to the next row that begins with it. */
function typeahead(e: KeyboardEvent, rows: TreeRow[], at: number, go: (row: TreeRow | undefined) => void) {
  if (e.key.length !== 1 || e.key === ' ') return undefined;
  const order = [...rows.slice(at + 1), ...rows.slice(0, at + 1)];
  const hit = order.find((r) => r.name.toLowerCase().startsWith(e.key.toLowerCase()));
  return hit && (() => go(hit));
}
