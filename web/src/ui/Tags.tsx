import { Link } from 'wouter';
import css from './Tags.module.css';

interface Props {
  label: string;
  tags: string[];
  /** Returns the URL of a tag. */
  to: (tag: string) => string;
}

/** Shows tags as links. Each link lists all items with the tag. */
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
