import { FilePlus, Search, Upload } from 'lucide-react';
import { memo, useCallback, useLayoutEffect, useRef, useState, type Ref } from 'react';
import { download } from '../../state/clipboard';
import { useCommand } from '../../state/commands';
import { setLayout } from '../../state/layout';
import { notify } from '../../state/notices';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { IconButton } from '../../ui/Button';
import type { MenuEntry } from '../../ui/Menu';
import panel from '../../ui/Panel.module.css';
import { filesPanel as say } from '../../texts/files';
import { useOpenAgent, useOpenFiles } from '../../agent/openAgent';
import { bytesOf, readUpload } from '../../api/contents';
import { addFile, addFiles, removePath, renamePath } from './edits';
import { FileSearch } from './FileSearch';
import css from './FilesPanel.module.css';
import { FileTree, type TreeActions } from './FileTree';
import { NameInput } from './NameInput';
import { pathFault, type Severity, type TreeRow } from './tree';

interface Props {
  current: string | undefined;
  severities: ReadonlyMap<string, Severity>;
  onOpen: (path: string, line?: number) => void;
  /** Opens a file in the second editor. */
  onOpenBeside: ((path: string) => void) | undefined;
  onRenamed: (from: string, to: string) => void;
}

type Doing =
  | { kind: 'none' }
  | { kind: 'new'; folder: string }
  | { kind: 'rename'; path: string }
  | { kind: 'delete'; path: string }
  | { kind: 'search' }
  | { kind: 'replace'; files: File[]; folder: string; taken: string[] };

/**
 * Shows the files of the open agent. The user can create, rename, move, upload and delete files of a draft, and
 * download all files.
 */
export function FilesPanel({ current, severities, onOpen, onOpenBeside, onRenamed }: Props) {
  const { fields, paths, session } = useOpenAgent();
  const { entrypoint } = fields;
  const files = useOpenFiles();
  const [doing, setDoing] = useState<Doing>({ kind: 'none' });
  const chooser = useRef<HTMLInputElement>(null);
  const into = useRef('');
  const done = (): void => setDoing({ kind: 'none' });

  const move = (from: string, to: string): void => {
    session?.editDraft(renamePath(files, entrypoint, from, to));
    onRenamed(from, to);
  };
  const replace = (changed: Record<string, string>, count: number): void => {
    const before = files;
    session?.editDraft({ files: { ...files, ...changed } });
    notify('done', say.replaced(count, Object.keys(changed).length), {
      label: say.undo,
      run: () => session?.editDraft({ files: before }),
    });
  };
  const moveInto = (path: string, folder: string): void => {
    const to = (folder === '' ? '' : `${folder}/`) + (path.split('/').at(-1) ?? path);
    if (to === path || folder === path || folder.startsWith(`${path}/`)) return;
    const fault = pathFault(
      to,
      paths.filter((p) => p !== path && !p.startsWith(`${path}/`)),
    );
    if (fault === undefined) move(path, to);
    else notify('failed', say.notMoved(path, fault));
  };
  const take = async (uploads: File[], folder: string): Promise<void> => {
    try {
      const read = await Promise.all(
        uploads.map(async (file) => [pathIn(folder, file), await readUpload(file)] as const),
      );
      session?.editDraft(addFiles(session.get().draft.files, Object.fromEntries(read)));
      const [first] = read;
      if (first) onOpen(first[0]);
    } catch {
      notify('failed', say.notRead);
    }
  };
  const upload = (uploads: File[], folder: string): void => {
    const taken = uploads.map((file) => pathIn(folder, file)).filter((path) => path in files);
    const faults = uploads.flatMap(
      (file) =>
        pathFault(
          pathIn(folder, file),
          paths.filter((p) => !taken.includes(p)),
        ) ?? [],
    );
    if (faults[0] !== undefined) notify('failed', say.notUploaded(faults[0]));
    else if (taken.length > 0) setDoing({ kind: 'replace', files: uploads, folder, taken });
    else void take(uploads, folder);
  };
  const latest = useRef(upload);
  useLayoutEffect(() => {
    latest.current = upload;
  });
  const chosen = useCallback((uploads: File[]) => latest.current(uploads, into.current), []);
  const choose = (folder: string): void => {
    into.current = folder;
    chooser.current?.click();
  };
  const create = (path: string | undefined): void => {
    done();
    if (path === undefined) return;
    session?.editDraft(addFile(files, path));
    onOpen(path);
  };
  const begin = (folder = ''): void => {
    setLayout({ leftOpen: true, pane: 'files' });
    setDoing({ kind: 'new', folder });
  };
  const search = (): void => {
    setLayout({ leftOpen: true, pane: 'files' });
    setDoing({ kind: 'search' });
  };
  useCommand('file.new', session && (() => begin()));
  useCommand('file.upload', session && (() => choose('')));
  useCommand('file.search', search);

  const begins = (next: Doing) => ({ later: true, run: () => setDoing(next) });
  const menu = (row: TreeRow): MenuEntry[] => {
    const { path, kind } = row;
    const content = files[path];
    const entries: MenuEntry[] = [];
    if (onOpenBeside && kind === 'file')
      entries.push({ kind: 'item', label: say.openBeside, run: () => onOpenBeside(path) });
    if (session && kind === 'file' && path !== entrypoint)
      entries.push({
        kind: 'item',
        label: say.makeItTheEntrypoint,
        run: () => session.editDraft({ entrypoint: path }),
      });
    if (session && kind === 'folder')
      entries.push(
        { kind: 'item', label: say.newFileInIt, ...begins({ kind: 'new', folder: path }) },
        { kind: 'item', label: say.uploadIntoIt, run: () => choose(path) },
      );
    if (content !== undefined)
      entries.push({
        kind: 'item',
        label: say.download,
        run: () => download(row.name, bytesOf(content), 'application/octet-stream'),
      });
    if (session)
      entries.push(
        { kind: 'item', label: say.renameOrMove, keys: 'F2', ...begins({ kind: 'rename', path }) },
        { kind: 'rule' },
        { kind: 'item', label: say.delete, keys: 'Del', danger: true, ...begins({ kind: 'delete', path }) },
      );
    return entries;
  };
  const actions: TreeActions = {
    open: onOpen,
    rename: session && ((path) => setDoing({ kind: 'rename', path })),
    remove: session && ((path) => setDoing({ kind: 'delete', path })),
    search,
    move: session && moveInto,
    upload: session && upload,
    menu,
  };

  return (
    <section className={css.panel} aria-label={say.files}>
      <div className={panel.head}>
        <h2 className={panel.title}>{say.files}</h2>
        <IconButton
          small
          label={say.searchInFiles}
          aria-pressed={doing.kind === 'search'}
          onClick={() => (doing.kind === 'search' ? done() : search())}
        >
          <Search size={14} aria-hidden />
        </IconButton>
        {session && (
          <>
            <IconButton small label={say.uploadFiles} onClick={() => choose('')}>
              <Upload size={14} aria-hidden />
            </IconButton>
            <IconButton small label={say.newFile} onClick={() => begin()}>
              <FilePlus size={16} aria-hidden />
            </IconButton>
          </>
        )}
      </div>
      <Chooser ref={chooser} onChosen={chosen} />
      {doing.kind === 'new' && (
        <NameInput
          label={say.pathOfTheNewFile}
          value={doing.folder === '' ? '' : `${doing.folder}/`}
          fault={(path) => pathFault(path, paths)}
          onDone={create}
        />
      )}
      {doing.kind === 'search' ? (
        <FileSearch files={files} onReplace={session && replace} onOpen={onOpen} onClose={done} />
      ) : (
        <FileTree
          files={files}
          entrypoint={entrypoint}
          current={current}
          renaming={doing.kind === 'rename' ? doing.path : undefined}
          severities={severities}
          onRenamed={(from, to) => {
            done();
            if (to !== undefined) move(from, to);
          }}
          actions={actions}
        />
      )}
      {doing.kind === 'delete' && (
        <ConfirmDialog
          title={say.deleteNamed(doing.path)}
          about={holds(doing.path, entrypoint) ? say.deleteEntryAbout(entrypoint) : say.deleteAbout}
          verb={say.deleteVerb}
          onClose={done}
          onConfirm={() => session?.editDraft(removePath(files, doing.path))}
        />
      )}
      {doing.kind === 'replace' && (
        <ConfirmDialog
          title={
            doing.taken.length === 1 ? say.replaceNamed(doing.taken[0] ?? '') : say.replaceFiles(doing.taken.length)
          }
          about={say.replaceAbout(doing.taken)}
          verb={say.replaceVerb}
          onClose={done}
          onConfirm={() => void take(doing.files, doing.folder)}
        />
      )}
    </section>
  );
}

/** React writes an input's name and type at every render, and the panel renders with every key. */
const Chooser = memo(function Chooser({
  ref,
  onChosen,
}: {
  ref: Ref<HTMLInputElement>;
  onChosen: (files: File[]) => void;
}) {
  return (
    <input
      ref={ref}
      type="file"
      multiple
      hidden
      aria-label={say.filesToUpload}
      onChange={(e) => {
        onChosen([...(e.target.files ?? [])]);
        e.target.value = ''; // reset, so that the user can select the same file again
      }}
    />
  );
});

/** Whether a path is a file, or a folder that contains a file. */
const holds = (path: string, file: string): boolean => path === file || file.startsWith(`${path}/`);

const pathIn = (folder: string, file: File): string => (folder === '' ? file.name : `${folder}/${file.name}`);
