import { useEffect, useRef } from 'react';
import type { DiffSides } from '../editor/diff';
import { loadEditor } from '../editor/load';
import { textDiff as say } from '../texts/compare';
import { useWide } from '../ui/useWide';
import css from './TextDiff.module.css';

// The minimum width in pixels for a side-by-side diff.
export const narrowest = 520;
const lineHeight = 18;

interface Props {
  /** A file extension, which selects the language. */
  path: string;
  before: string;
  after: string;
  sides: DiffSides;
  inline?: boolean;
}

/** Shows two texts in Monaco's diff editor. */
export function TextDiff({ path, before, after, sides, inline = false }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const wide = useWide(host, narrowest);
  const { before: left, after: right } = sides;
  useEffect(() => {
    let close = (): void => undefined;
    let gone = false;
    loadEditor().then(
      (kit) => {
        if (gone || !host.current) return;
        const view = kit.createDiff(host.current, { before: left, after: right }, inline || !wide);
        view.show(path, before, after);
        close = () => view.dispose();
      },
      () => undefined,
    );
    return () => {
      gone = true;
      close();
    };
  }, [path, before, after, left, right, inline, wide]);
  const lines = before.split('\n').length + after.split('\n').length;
  return (
    <div
      ref={host}
      className={css.diff}
      style={{ maxHeight: (lines + 2) * lineHeight }}
      role="region"
      aria-label={say.changesOf(path)}
    />
  );
}
