import type { CSSProperties } from 'react';
import { consoleRow as say } from '../texts/console';
import { clockTime, withControls } from '../texts/format';
import { classes } from '../ui/classes';
import css from './Console.module.css';
import type { Line } from './lines';
import { parseLine, type Style } from './sgr';

// The console draws only the start of a very long line. Copying includes the whole line.
export const mostShown = 4000;

interface Props {
  line: Line;
  text: string;
  position: number;
  size: number;
  look: 'plain' | 'match' | 'hit';
  time: boolean;
}

/**
 * Shows one console line. It writes program output only as text nodes. When the line grows, the `text` property makes
 * the row render again.
 */
export function ConsoleRow({ line, text, position, size, look, time }: Props) {
  const shown = text.length > mostShown ? text.slice(0, mostShown) : text;
  const { spans } = parseLine(shown, line.style);
  const kind = line.stream === 'stdout' || line.stream === 'log' ? undefined : css[line.stream];
  return (
    <div
      role="listitem"
      aria-setsize={size}
      aria-posinset={position}
      className={classes(css.row, kind, look !== 'plain' && css[look])}
    >
      <span className={css.number} aria-hidden>
        {line.number}
      </span>
      {time && <time className={css.time}>{clockTime(line.at)}</time>}
      <span className={css.text}>
        {(line.stream === 'log' || line.stream === 'progress') && (
          <span className={css.level} data-level={line.level}>
            {line.level ?? say.progress}
          </span>
        )}
        {spans.map((span, i) => (
          <span key={i} style={styleOf(span.style)}>
            {withControls(span.text)}
          </span>
        ))}
        {text.length > mostShown && <span className={css.cut}>{say.more(text.length - mostShown)}</span>}
        {line.fields !== undefined && <span className={css.fields}>{line.fields}</span>}
      </span>
    </div>
  );
}

function styleOf(style: Style): CSSProperties | undefined {
  if (Object.keys(style).length === 0) return undefined;
  const [fg, bg] = style.inverse ? [style.bg ?? 'var(--bg0)', style.fg ?? 'var(--fg)'] : [style.fg, style.bg];
  const css: CSSProperties = {};
  // Mixes the program's colours with the text colour until they are readable on the background.
  if (fg !== undefined)
    css.color = fg.startsWith('rgb') && bg === undefined ? `color-mix(in oklab, ${fg} 65%, var(--fg))` : fg;
  if (bg !== undefined) {
    css.background = bg;
    if (fg === undefined) css.color = 'var(--bg0)';
  }
  if (style.bold) css.fontWeight = 700;
  if (style.italic) css.fontStyle = 'italic';
  if (style.dim) css.color = css.color ?? 'var(--fg3)';
  const lines = [style.underline && 'underline', style.strike && 'line-through'].filter(Boolean).join(' ');
  if (lines !== '') css.textDecoration = lines;
  return css;
}
