import { useQueries } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { keys } from '../api/queries';
import type { Diff, Files } from '../api/types';
import { getAgent, getVersion } from '../api/verbs';
import { fileChange as say } from '../texts/compare';
import { Choices } from '../ui/Choices';
import { NotLoaded } from '../ui/NotLoaded';
import { Waiting } from '../ui/Waiting';
import { useWide } from '../ui/useWide';
import { useOpenAgent } from '../agent/openAgent';
import css from './Changes.module.css';
import { DiffFile } from './DiffFile';
import { Lines } from './Lines';
import { narrowest, TextDiff } from './TextDiff';

type Look = 'lines' | 'sideBySide' | 'within';

interface Props {
  file: Diff['files'][number];
  from: string;
  to: string;
  linesOnly: boolean;
}

/** Shows a changed file, either the lines around each change or both files in the diff editor. */
export function FileChange({ file, from, to, linesOnly }: Props) {
  const { path, status, unified, binary } = file;
  const [chosen, setLook] = useState<Look>('lines');
  const section = useRef<HTMLElement>(null);
  const wide = useWide(section, narrowest);
  const look = chosen === 'sideBySide' && !wide ? 'within' : chosen;
  const looks = [
    { value: 'lines', label: say.lines },
    { value: 'sideBySide', label: say.sideBySide, disabled: !wide, title: wide ? undefined : say.noRoom },
    { value: 'within', label: say.inline },
  ] as const;
  return (
    <DiffFile
      ref={section}
      path={path}
      kind={status}
      unified={unified}
      acts={
        !binary &&
        !linesOnly && <Choices label={say.showAs(path)} choices={[...looks]} value={look} onChange={setLook} />
      }
    >
      {look !== 'lines' ? (
        <Whole path={path} from={from} to={to} inline={look === 'within'} />
      ) : unified === '' ? (
        <p>{binary ? say.itIsNotText : say.emptyOrTooLarge}</p>
      ) : (
        <div className={css.scroll} tabIndex={0} role="region" aria-label={say.changesOf(path)}>
          <Lines text={unified} />
        </div>
      )}
    </DiffFile>
  );
}

function Whole({ path, from, to, inline }: { path: string; from: string; to: string; inline: boolean }) {
  const { name } = useOpenAgent();
  const found = useQueries({
    queries: [from, to].map((version) => ({
      queryKey: [...keys.diffs(name), 'files', version],
      queryFn: () => filesOf(name, version),
      gcTime: 0,
    })),
  });
  const [before, after] = found;
  if (found.some(({ isLoadingError }) => isLoadingError)) return <NotLoaded found={found} why={say.notLoaded} />;
  if (!before?.data || !after?.data) return <Waiting shape="code" what={path} retry />;
  return (
    <TextDiff
      path={path}
      before={textIn(before.data, path)}
      after={textIn(after.data, path)}
      sides={{ before: from, after: to }}
      inline={inline}
    />
  );
}

const filesOf = async (name: string, version: string): Promise<Files> =>
  version === 'draft' ? (await getAgent(name)).draft.files : (await getVersion(name, version)).files;

function textIn(files: Files, path: string): string {
  const content = files[path];
  return typeof content === 'string' ? content : '';
}
