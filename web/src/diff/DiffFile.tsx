import { FileMinus, FilePen, FilePlus, type LucideIcon } from 'lucide-react';
import { useMemo, type ReactNode, type Ref } from 'react';
import { diffFile as say } from '../texts/compare';
import css from './Changes.module.css';
import { countsOf } from './unified';

interface Props {
  path: string;
  /** How the file changed, in the words of the server: added, changed, deleted and so on. */
  kind: string;
  /** The unified diff. The component counts its lines. */
  unified: string;
  /** The level of the heading. */
  rank?: 'h2' | 'h3';
  acts?: ReactNode;
  ref?: Ref<HTMLElement>;
  children: ReactNode;
}

const icons: Record<string, LucideIcon> = {
  added: FilePlus,
  created: FilePlus,
  deleted: FileMinus,
  removed: FileMinus,
};

/** Shows a changed file as a box: the path, the numbers of added and removed lines, the buttons, and the content. */
export function DiffFile({ path, kind, unified, rank: Heading = 'h3', acts, ref, children }: Props) {
  const Icon = icons[kind] ?? FilePen;
  const { added, removed } = useMemo(() => countsOf(unified), [unified]);
  return (
    <section ref={ref} aria-label={path} className={css.file}>
      <div className={css.fileHead}>
        <Heading>
          <Icon size={14} aria-hidden />
          <code>{path}</code> <span>{kind}</span>
        </Heading>
        {added + removed > 0 && (
          <span className={css.counts} role="img" aria-label={say.counts(added, removed)}>
            <span className={css.plus}>+{added}</span> <span className={css.minus}>−{removed}</span>
          </span>
        )}
        {acts}
      </div>
      {children}
    </section>
  );
}
