import { ArrowDown, ArrowUp, Download } from 'lucide-react';
import { useState } from 'react';
import { download } from '../../state/clipboard';
import { withControls } from '../../texts/format';
import { output as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import css from './Output.module.css';
import { cellText, type Named, type Table } from './shown';
import { csvOf, sortedRows, type Order } from './table';

const most = 500;

/** Shows a table. Each click on the title of a column changes its order: ascending, descending, as returned. */
export function Rows({ table: { path, value } }: { table: Named<Table> }) {
  const [order, setOrder] = useState<Order>();
  const { columns, rows } = value;
  const shown = sortedRows(rows, order).slice(0, most);
  const sort = (column: number): void =>
    setOrder((now) =>
      now?.column !== column
        ? { column, descending: false }
        : now.descending
          ? undefined
          : { column, descending: true },
    );
  return (
    <div className={css.scroll} tabIndex={0} role="region" aria-label={say.rowsOf(path)}>
      <table className={css.table}>
        <caption className={css.path}>
          {rows.length > most ? say.firstRowsOf(path, most, rows.length) : path}{' '}
          <Button look="link" onClick={() => download(say.csvName(path), csvOf(value), 'text/csv')}>
            <Download size={12} aria-hidden /> {say.csv}
          </Button>
        </caption>
        <thead>
          <tr>
            {columns.map((column, n) => (
              <th key={column} scope="col" aria-sort={sortOf(order, n)}>
                <button type="button" onClick={() => sort(n)}>
                  {column}
                  {order?.column === n &&
                    (order.descending ? <ArrowDown size={12} aria-hidden /> : <ArrowUp size={12} aria-hidden />)}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, i) => (
            <tr key={i}>
              {row.map((cell, n) => (
                <td key={columns[n]} data-number={typeof cell === 'number'}>
                  {withControls(cellText(cell))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const sortOf = (order: Order | undefined, column: number): 'ascending' | 'descending' | 'none' =>
  order?.column !== column ? 'none' : order.descending ? 'descending' : 'ascending';
