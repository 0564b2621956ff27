import { CircleCheck, CircleX, Download } from 'lucide-react';
import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react';
import { stringifyJson, type Json } from '../../api/json';
import type { RunAnswer } from '../../api/types';
import { download } from '../../state/clipboard';
import { withControls } from '../../texts/format';
import { output as say } from '../../texts/run';
import { IconButton } from '../../ui/Button';
import { Choices } from '../../ui/Choices';
import { CopyButton } from '../../ui/CopyButton';
import { JsonTree } from './JsonTree';
import css from './Output.module.css';
import { useFit, type Fit, type OnScreen } from './outputSchema';
import { Rows } from './Rows';
import { formattedOf, imagesOf, looksOf, tablesOf, textsOf, type Look } from './shown';
import { viewsOf, type View } from './views';

const ChartView = lazy(() => import('./ChartView').then((m) => ({ default: m.ChartView })));
const Markdown = lazy(() => import('../../ui/Markdown').then((m) => ({ default: m.Markdown })));

interface Props {
  answer: RunAnswer;
  open?: OnScreen;
  /** A button in the heading. */
  action?: ReactNode;
  /** Whether the output has a border, as the input next to it. */
  framed?: boolean;
}

/** Shows the output of the program in the view that the user selected, or else in the best view. */
export function Output({ answer, open, action, framed = false }: Props) {
  const { output, runId } = answer;
  const { fit, schema } = useFit(answer, open);
  const views = useMemo(() => viewsOf(output, schema), [output, schema]);
  const looks: Look[] = [...(views.length > 0 ? (['view'] as const) : []), ...looksOf(output)];
  const [chosen, setChosen] = useState<Look>();
  // The views that the schema names come first, then a picture. All other outputs are shown as a tree.
  const first = views.length > 0 ? 'view' : looks.includes('image') ? 'image' : 'tree';
  const look = chosen !== undefined && looks.includes(chosen) ? chosen : first;
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
          {action}
          <CopyButton label={say.copyAsJson} text={json} />
          <IconButton small label={say.download} onClick={() => download(`${runId}.json`, json(), 'application/json')}>
            <Download size={14} aria-hidden />
          </IconButton>
        </span>
      </div>
      <div className={framed ? css.framed : undefined}>
        <Shown look={look} output={output} views={views} />
      </div>
    </section>
  );
}

function Shown({ look, output, views }: { look: Look; output: Json; views: View[] }) {
  switch (look) {
    case 'view':
      return views.map((view) => <AsAsked key={view.path} view={view} />);
    case 'markdown':
      return formattedOf(output).map(({ path, value }) => <Formatted key={path} text={value} />);
    case 'tree':
      return <JsonTree value={output} />;
    case 'table':
      return tablesOf(output).map((table) => <Rows key={table.path} table={table} />);
    case 'text':
      return textsOf(output).map(({ path, value }) => (
        <div key={path}>
          <h3 className={css.path}>{path}</h3>
          <pre className={css.text}>{withControls(value)}</pre>
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

const Formatted = ({ text }: { text: string }) => (
  <Suspense fallback={<pre className={css.text}>{text}</pre>}>
    <Markdown text={text} />
  </Suspense>
);

/** Shows one part of the output in the view that its schema names. */
function AsAsked({ view }: { view: View }) {
  switch (view.kind) {
    case 'markdown':
      return <Formatted text={view.text} />;
    case 'text':
      return <pre className={css.text}>{withControls(view.text)}</pre>;
    case 'table':
      return <Rows table={{ path: view.path, value: view.table }} />;
    case 'chart':
      return (
        <Suspense fallback={<div className={css.chart} />}>
          <ChartView chart={view.chart} path={view.path} />
        </Suspense>
      );
    case 'problem':
      return (
        <p className={css.problem}>
          <code>{view.path}</code> {view.message}
        </p>
      );
  }
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
