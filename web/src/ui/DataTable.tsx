import { ArrowDown, ArrowUp, ChevronsUpDown, Search } from 'lucide-react';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { usePhone } from '../state/layout';
import { dataTable as say } from '../texts/ui';
import { classes } from './classes';
import css from './DataTable.module.css';
import { narrowed, ordered, phoneOrder, type Order } from './tableOrder';

export interface TableColumn<T> {
  /** The ID of the column. It also names the order by this column. */
  key: string;
  title: string;
  cell: (item: T) => ReactNode;
  /** Returns the value by which the column is sorted. Without it, the table cannot be sorted by this column. */
  by?: (item: T) => string | number;
  /** The column contains numbers, which are aligned at the right. */
  numeric?: boolean;
  /** The column contains buttons. It is at the right end and has no visible title. */
  acts?: boolean;
}

interface Props<T> {
  label: string;
  items: readonly T[];
  columns: readonly TableColumn<T>[];
  rowKey: (item: T) => string;
  /** Returns the words of an item that the filter searches. Without it, the table has no filter. */
  words?: (item: T) => string;
  /** The initial order. Without it, the items keep their order. */
  order?: Order;
  faded?: (item: T) => boolean;
  /** Whether an item stays above the others in every order. */
  top?: (item: T) => boolean;
  /** Whether the cells of a row are centred vertically, for rows that contain fields or pictures. */
  middle?: boolean;
  /** The maximum number of rows that are shown. The filter searches all items. */
  most?: number;
}

/** With fewer rows than this, the user sees all rows at once, so there is no filter. */
const filterFrom = 5;

/**
 * Shows a table that the user can sort and filter. The arrow keys move from row to row. On a narrow screen each row is
 * a block, with its buttons next to its title.
 */
export function DataTable<T>({
  label,
  items,
  columns: given,
  rowKey,
  words,
  order: first,
  faded,
  top,
  middle = false,
  most = Infinity,
}: Props<T>) {
  const phone = usePhone();
  const columns = phone ? phoneOrder(given) : given;
  const [order, setOrder] = useState(first);
  const [typed, setTyped] = useState('');
  const by = columns.find(({ key }) => key === order?.column)?.by;
  const found = words ? narrowed(items, typed, words) : items;
  const sorted = ordered(found, by, order?.descending ?? false);
  const all = top ? [...sorted.filter(top), ...sorted.filter((item) => !top(item))] : sorted;
  const shown = all.slice(0, most);
  const sort = (column: string): void =>
    setOrder((now) => ({ column, descending: now?.column === column && !now.descending }));
  return (
    <div className={css.part}>
      {words && items.length >= filterFrom && (
        <div className={css.filter}>
          <Search size={14} aria-hidden />
          <input
            type="search"
            aria-label={say.filter(label)}
            placeholder={say.placeholder}
            spellCheck={false}
            value={typed}
            onChange={(e) => setTyped(e.target.value)}
            onKeyDown={(e) => e.key === 'Escape' && setTyped('')}
          />
          <span role="status">{typed === '' ? '' : say.found(found.length, items.length)}</span>
        </div>
      )}
      <table className={classes(css.table, middle && css.middle)} role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ key, title, by: sorts, acts = false, numeric = false }) => (
              <th
                key={key}
                role="columnheader"
                scope="col"
                {...(sorts && { 'aria-sort': sortOf(order, key) })}
                className={classes(acts && css.acts, numeric && css.numeric)}
              >
                {sorts ? (
                  <SortButton title={title} column={key} order={order} onSort={sort} />
                ) : (
                  <span className={acts ? 'visually-hidden' : undefined}>{title}</span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" onKeyDown={moveBetweenRows}>
          {shown.map((item) => (
            <tr key={rowKey(item)} role="row" className={classes(faded?.(item) === true && css.faded)}>
              {columns.map(({ key, title, cell, acts = false, numeric = false }) => (
                <td
                  key={key}
                  role="cell"
                  data-title={acts ? undefined : title}
                  className={classes(acts && css.acts, numeric && css.numeric)}
                >
                  {cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length === 0 && items.length > 0 && <p className={css.none}>{say.nothingMatches}</p>}
      {shown.length < all.length && <p className={css.none}>{say.firstOf(shown.length, all.length)}</p>}
    </div>
  );
}

interface SortButtonProps {
  title: string;
  column: string;
  order: Order | undefined;
  onSort: (column: string) => void;
}

/** Shows the title of a column by which the table can be sorted, with an arrow for the direction. */
export function SortButton({ title, column, order, onSort }: SortButtonProps) {
  return (
    <button type="button" className={css.sort} onClick={() => onSort(column)}>
      {title}
      <Arrow order={order?.column === column ? order : undefined} />
    </button>
  );
}

function Arrow({ order }: { order: Order | undefined }) {
  if (!order) return <ChevronsUpDown size={12} className={css.idle} aria-hidden />;
  return order.descending ? <ArrowDown size={12} aria-hidden /> : <ArrowUp size={12} aria-hidden />;
}

/** Returns the value of aria-sort. */
export const sortOf = (order: Order | undefined, column: string): 'ascending' | 'descending' | 'none' =>
  order?.column !== column ? 'none' : order.descending ? 'descending' : 'ascending';

const controls = 'a[href], button:not([disabled])';

/**
 * Moves the focus to the control at the same position in another row. In text fields, the arrow keys move the cursor
 * instead.
 */
function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  if (event.defaultPrevented) return; // the key has opened a menu
  const to = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  const { target, currentTarget } = event;
  if (to === undefined || !(target instanceof HTMLElement) || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
  const row = target.closest('tr');
  const rows = [...currentTarget.children];
  const at = row ? rows.indexOf(row) : -1;
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + to))];
  if (!row || !next || next === row) return;
  const place = [...row.querySelectorAll(controls)].indexOf(target);
  const there = [...next.querySelectorAll<HTMLElement>(controls)];
  there[Math.min(place, there.length - 1)]?.focus();
  event.preventDefault();
}
