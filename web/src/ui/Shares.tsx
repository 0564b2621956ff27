import type { LucideIcon } from 'lucide-react';
import { number } from '../texts/format';
import css from './Shares.module.css';

/** The colour of a part. `a` to `d` only distinguish parts. The other colours mean a state. */
export type ShareLook = 'a' | 'b' | 'c' | 'd' | 'ok' | 'warn' | 'err' | 'quiet';

export interface Share {
  key: string;
  /** The name of the part. It follows the number. */
  label: string;
  count: number;
  look: ShareLook;
  icon?: LucideIcon;
}

interface Props {
  label: string;
  shares: readonly Share[];
}

/** Shows how a whole is divided: a bar, and the number of each part. It omits parts whose number is 0. */
export function Shares({ label, shares }: Props) {
  const shown = shares.filter(({ count }) => count > 0);
  if (shown.length === 0) return null;
  return (
    <div className={css.shares}>
      <div className={css.bar} aria-hidden>
        {shown.map(({ key, count, look }) => (
          <span key={key} data-look={look} style={{ flexGrow: count }} />
        ))}
      </div>
      <ul className={css.legend} aria-label={label}>
        {shown.map(({ key, label: name, count, look, icon: Icon }) => (
          <li key={key}>
            {Icon ? <Icon size={14} data-look={look} aria-hidden /> : <i data-look={look} aria-hidden />}
            <span>
              <strong>{number(count)}</strong> {name}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
