import { Link } from 'wouter';
import css from './Tags.module.css';

interface Props {
  label: string;
  tags: string[];
  /** Where a tag leads. */
  to: (tag: string) => string;
}

/** The tags of something, each a way to all that have it. */
export function Tags({ label, tags, to }: Props) {
  if (tags.length === 0) return null;
  return (
    <ul className={css.tags} aria-label={label}>
      {tags.map((tag) => (
        <li key={tag}>
          <Link href={to(tag)}>{tag}</Link>
        </li>
      ))}
    </ul>
  );
}
