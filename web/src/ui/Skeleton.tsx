import css from './Skeleton.module.css';

/** The shape of the placeholder. */
export type Shape = 'page' | 'rows' | 'table' | 'cards' | 'text' | 'code' | 'names' | 'fields' | 'line' | 'lines';

const parts: Record<Shape, number> = {
  ...{ page: 4, rows: 4, table: 6, cards: 6, text: 6, code: 14, names: 6 },
  ...{ fields: 2, line: 1, lines: 2 },
};

/** Grey bars that stand for content while it is loaded. The component Waiting tells screen readers about it. */
export function Skeleton({ shape }: { shape: Shape }) {
  return (
    <div className={css.skeleton} data-shape={shape} aria-hidden>
      {Array.from({ length: parts[shape] }, (_, i) => (
        <div key={i} className={css.part}>
          <span />
          <span />
        </div>
      ))}
    </div>
  );
}
