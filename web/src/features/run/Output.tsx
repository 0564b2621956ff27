import { CircleCheck, CircleX, Download } from 'lucide-react';
import { useState } from 'react';
import { stringifyJson, type Json } from '../../api/json';
import type { RunAnswer } from '../../api/types';
import { download } from '../../state/clipboard';
import { output as say } from '../../texts/run';
import { IconButton } from '../../ui/Button';
import { Choices } from '../../ui/Choices';
import { CopyButton } from '../../ui/CopyButton';
import { JsonTree } from './JsonTree';
import css from './Output.module.css';
import { useFit, type Fit, type OnScreen } from './outputSchema';
import { cellText, imagesOf, looksOf, tablesOf, textsOf, type Look, type Named, type Table } from './shown';

/** The output of the program in the best view or the selected one. */
export function Output({ answer, open }: { answer: RunAnswer; open?: OnScreen }) {
  const { output, runId } = answer;
  const fit = useFit(answer, open);
  const looks = looksOf(output);
  const [chosen, setChosen] = useState<Look>();
  // A picture opens as a picture. All other outputs open as a tree.
  const look = chosen !== undefined && looks.includes(chosen) ? chosen : looks.includes('image') ? 'image' : 'tree';
  const json = (): string => stringifyJson(output, 2);
  return (
    <section aria-label={say.outputValue}>
      <div className={css.head}>
        <h2>{say.output}</h2>
        {fit && <Check fit={fit} />}
        <span className={css.tools}>
          {looks.length > 1 && (
            <Choices
              label={say.outputAs}
              choices={looks.map((value) => ({ value, label: say.looks[value] }))}
              value={look}
              onChange={setChosen}
            />
          )}
          <CopyButton label={say.copyAsJson} text={json} />
          <IconButton small label={say.download} onClick={() => download(`${runId}.json`, json(), 'application/json')}>
            <Download size={14} aria-hidden />
          </IconButton>
        </span>
      </div>
      <Shown look={look} output={output} />
    </section>
  );
}

function Shown({ look, output }: { look: Look; output: Json }) {
  switch (look) {
    case 'tree':
      return <JsonTree value={output} />;
    case 'table':
      return tablesOf(output).map((table) => <Rows key={table.path} table={table} />);
    case 'text':
      return textsOf(output).map(({ path, value }) => (
        <div key={path}>
          <h3 className={css.path}>{path}</h3>
          <pre className={css.text}>{value}</pre>
        </div>
      ));
    case 'image':
      return imagesOf(output).map(({ path, value }) => (
        <figure key={path} className={css.image}>
          <img src={value} alt={say.pictureAt(path)} />
          <figcaption className={css.path}>{path}</figcaption>
        </figure>
      ));
  }
}

const most = 500;

function Rows({ table: { path, value } }: { table: Named<Table> }) {
  const { columns, rows } = value;
  return (
    <div className={css.scroll} tabIndex={0} role="region" aria-label={say.rowsOf(path)}>
      <table className={css.table}>
        <caption className={css.path}>{rows.length > most ? say.firstRowsOf(path, most, rows.length) : path}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row, i) => (
            <tr key={i}>
              {row.map((cell, n) => (
                <td key={columns[n]} data-number={typeof cell === 'number'}>
                  {cellText(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Check({ fit }: { fit: NonNullable<Fit> }) {
  const passed = fit === 'passed' || fit === 'passedThen';
  return (
    <span className={css.check} data-state={passed ? 'passed' : 'failed'}>
      {passed ? <CircleCheck size={12} aria-hidden /> : <CircleX size={12} aria-hidden />}
      {say.fit[fit]}
    </span>
  );
}
