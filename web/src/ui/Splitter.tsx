import type { KeyboardEvent, PointerEvent } from 'react';
import { classes } from './classes';
import css from './Splitter.module.css';

interface Props {
  label: string;
  /** The direction in which the line separates. "column" separates columns. */
  between: 'column' | 'row';
  value: number;
  min: number;
  max: number;
  /** Whether dragging to the right or down makes the panel smaller. */
  inverse?: boolean;
  /** The number of pixels in one unit of the value. Without it, the value is in pixels. */
  pixels?: () => number;
  onChange: (value: number) => void;
}

/** The number of pixels by which an arrow key moves the splitter. */
const step = 16;

/** A window splitter that follows the WAI-ARIA pattern: dragging, arrow keys, Home and End. */
export function Splitter({ label, between, value, min, max, inverse, pixels = () => 1, onChange }: Props) {
  const clamp = (v: number): number => Math.min(max, Math.max(min, v));
  const sign = inverse ? -1 : 1;

  const drag = (down: PointerEvent<HTMLDivElement>): void => {
    down.preventDefault();
    const handle = down.currentTarget;
    handle.setPointerCapture(down.pointerId);
    const start = between === 'column' ? down.clientX : down.clientY;
    const move = (e: globalThis.PointerEvent): void =>
      onChange(clamp(value + (sign * ((between === 'column' ? e.clientX : e.clientY) - start)) / pixels()));
    const up = (): void => {
      handle.removeEventListener('pointermove', move);
      handle.removeEventListener('pointerup', up);
      handle.removeEventListener('pointercancel', up);
    };
    handle.addEventListener('pointermove', move);
    handle.addEventListener('pointerup', up);
    handle.addEventListener('pointercancel', up);
  };

  const key = (e: KeyboardEvent): void => {
    const [less, more] = between === 'column' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    const by = (sign * step) / pixels();
    const next = { [less]: value - by, [more]: value + by, Home: min, End: max }[e.key];
    if (next === undefined) return;
    e.preventDefault();
    onChange(clamp(next));
  };

  return (
    <div
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={between === 'column' ? 'vertical' : 'horizontal'}
      aria-valuenow={Math.round(value)}
      aria-valuemin={min}
      aria-valuemax={max}
      className={classes(css.splitter, css[between])}
      onPointerDown={drag}
      onKeyDown={key}
    />
  );
}
