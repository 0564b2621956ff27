import { classes } from './classes';
import css from './Avatar.module.css';

/** Shows the initials of a person. The colour depends only on the name. */
export function Avatar({ name, large = false }: { name: string; large?: boolean }) {
  return (
    <span className={classes(css.avatar, large && css.large)} data-hue={hueOf(name)} aria-hidden>
      {initialsOf(name)}
    </span>
  );
}

const letters = new Intl.Segmenter('en');

/** Returns the first letters of the first and the last word. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._@-]+/u).filter((word) => word !== '');
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words;
  return ends.map((word = '') => [...letters.segment(word)][0]?.segment.toLocaleUpperCase('en') ?? '').join('');
}

function hueOf(name: string): number {
  let sum = 0;
  for (let at = 0; at < name.length; at++) sum += name.charCodeAt(at);
  return sum % 5;
}
