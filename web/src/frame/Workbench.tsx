import type { MouseEvent, ReactNode } from 'react';
import { workbench as say } from '../texts/app';
import { Splitter } from '../ui/Splitter';
import { classes } from '../ui/classes';
import { setLayout, useLayout, usePhone, type Pane } from '../state/layout';
import { usePageTitle } from '../state/pageTitle';
import { Header } from './Brand';
import css from './Workbench.module.css';

interface Props {
  /** The name and the actions of the open agent, in a second line of the header. */
  bar?: ReactNode;
  left: ReactNode;
  main: ReactNode;
  bottom?: ReactNode;
  right?: ReactNode;
  status: ReactNode;
}

/** Shows the frame of every screen: header, agents and files, the editor above the run panel, configuration and status. */
export function Workbench({ bar, left, main, bottom, right, status }: Props) {
  const layout = useLayout();
  const editor = bottom !== undefined;
  const title = usePageTitle();
  const panes: { pane: Pane; label: string }[] = [
    { pane: 'files', label: say.agentList },
    { pane: 'code', label: editor ? say.code : title || say.page },
    ...(!editor ? [] : [{ pane: 'output' as const, label: say.run }]),
    ...(right === undefined ? [] : [{ pane: 'config' as const, label: say.configuration }]),
  ];
  const pane = panes.some((p) => p.pane === layout.pane) ? layout.pane : 'code';
  // A phone shows one pane. That pane is the main content of the page.
  const only = usePhone() ? pane : undefined;
  return (
    <div className={classes(css.bench, layout.maximised && css.maximised)} data-pane={pane}>
      <a className={css.skip} href="#editor" onClick={(e) => skip(e)}>
        {editor ? say.skipToTheEditor : say.skipToThePage}
      </a>
      <header className={css.header} data-tour="header" data-region tabIndex={-1}>
        <div className={css.line}>
          <Header />
        </div>
        {bar !== undefined && <div className={css.line}>{bar}</div>}
      </header>
      <div className={css.body}>
        <div
          aria-label={say.agentsAndFiles}
          data-region
          tabIndex={-1}
          role={only === 'files' ? 'main' : 'navigation'}
          className={classes(css.left, !layout.leftOpen && css.closed)}
        >
          <div className={css.panel} style={{ width: layout.left }}>
            {left}
          </div>
          {layout.leftOpen && (
            <Splitter
              label={say.widthOfTheLeftPanel}
              between="column"
              value={layout.left}
              min={180}
              max={400}
              onChange={(left) => setLayout({ left })}
            />
          )}
        </div>
        <div className={css.centre}>
          <main
            id="editor"
            className={css.main}
            data-tour="code"
            data-region
            tabIndex={-1}
            aria-label={editor ? say.editor : say.page}
          >
            {main}
          </main>
          {bottom !== undefined && <Bottom main={only === 'output'}>{bottom}</Bottom>}
        </div>
        {right !== undefined && <Right main={only === 'config'}>{right}</Right>}
      </div>
      <footer className={css.status}>{status}</footer>
      <nav className={css.panes} aria-label={say.panes}>
        {panes.map((p) => (
          <button key={p.pane} type="button" aria-current={p.pane === pane} onClick={() => setLayout({ pane: p.pane })}>
            {p.label}
          </button>
        ))}
      </nav>
    </div>
  );
}

interface PaneProps {
  /** Whether this is the only pane on the screen. */
  main: boolean;
  children: ReactNode;
}

function Bottom({ main, children }: PaneProps) {
  const { bottom, bottomOpen } = useLayout();
  return (
    <section
      role={main ? 'main' : undefined}
      aria-label={say.output}
      data-tour="output"
      data-region
      tabIndex={-1}
      className={classes(css.bottom, !bottomOpen && css.closed)}
    >
      {bottomOpen && (
        <Splitter
          label={say.heightOfTheOutputPanel}
          between="row"
          inverse
          value={bottom}
          min={120}
          max={Math.round(window.innerHeight * 0.7)}
          onChange={(height) => setLayout({ bottom: height })}
        />
      )}
      <div className={css.panel} style={{ height: bottom }}>
        {children}
      </div>
    </section>
  );
}

function Right({ main, children }: PaneProps) {
  const { right, rightOpen, sheetOpen } = useLayout();
  return (
    <div
      role={main ? 'main' : 'complementary'}
      aria-label={say.configuration}
      data-tour="config"
      data-region
      tabIndex={-1}
      className={classes(css.right, !rightOpen && css.closed, sheetOpen && css.sheetOpen)}
    >
      {rightOpen && (
        <div className={css.rightSplit}>
          <Splitter
            label={say.widthOfTheConfiguration}
            between="column"
            inverse
            value={right}
            min={260}
            max={480}
            onChange={(width) => setLayout({ right: width })}
          />
        </div>
      )}
      <div className={css.panel} style={{ width: right }}>
        {children}
      </div>
    </div>
  );
}

/** This link only moves the focus. It must not change the URL, which the router controls. */
function skip(e: MouseEvent): void {
  e.preventDefault();
  document.getElementById('editor')?.focus();
}
