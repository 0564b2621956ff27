import { CircleX, TriangleAlert } from 'lucide-react';
import { useRef } from 'react';
import { ServerStatus } from '../frame/StatusLine';
import type { Tab } from '../state/urlState';
import { agentStatus as say } from '../texts/agents';
import { common } from '../texts/common';
import { reference } from '../texts/reference';
import { classes } from '../ui/classes';
import { showDialog } from '../state/dialogs';
import { setLayout, useLayout } from '../state/layout';
import type { Problem } from '../editor/codeEditor';
import type { PythonState, PythonView } from '../editor/python';
import css from './AgentStatus.module.css';
import { Others } from './Others';
import { useCursor } from '../agent/cursor';

const names: Record<string, string> = {
  ts: 'TypeScript',
  js: 'JavaScript',
  mjs: 'JavaScript',
  cjs: 'JavaScript',
  py: 'Python',
  sh: 'Bash',
  bash: 'Bash',
  wasm: 'WebAssembly',
  json: 'JSON',
};

interface Props {
  tab: Tab;
  problems: Problem[];
  python: PythonView | undefined;
}

const states: Record<PythonState, string> = {
  off: say.off,
  starting: say.starting,
  ready: say.ready,
  failed: say.coloursOnly,
};

export function AgentStatus({ tab, problems, python }: Props) {
  const { problemsOpen } = useLayout();
  const settings = useRef<HTMLButtonElement>(null);
  const retryPython = (): void => {
    settings.current?.focus(); // the button disappears while it has the focus
    python?.retry();
  };
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.filter(({ severity }) => severity === 'warning').length;
  const language = tab.kind === 'schema' ? 'JSON Schema' : (names[tab.path.split('.').at(-1) ?? ''] ?? say.plainText);
  return (
    <>
      <button
        type="button"
        className={css.problems}
        aria-expanded={problemsOpen}
        onClick={() => setLayout({ problemsOpen: !problemsOpen })}
      >
        <span className="visually-hidden">{say.problems(errors, warnings)}</span>
        <span aria-hidden className={classes(css.count, errors > 0 && css.errors)} title={say.errors(errors)}>
          <CircleX size={12} aria-hidden />
          {errors}
        </span>
        <span aria-hidden className={classes(css.count, warnings > 0 && css.warnings)} title={say.warnings(warnings)}>
          <TriangleAlert size={12} aria-hidden />
          {warnings}
        </span>
      </button>
      <Place />
      <span>
        {language === 'Python' ? say.pythonIs : language}
        {/* Always rendered, so that screen readers announce its changes. */}
        <span role="status" aria-label={say.pythonService} aria-atomic>
          {language === 'Python' && states[python?.state ?? 'off']}
        </span>
      </span>
      {language === 'Python' && python?.state === 'failed' && (
        <button type="button" className={css.problems} aria-label={say.startPythonAgain} onClick={retryPython}>
          {common.retry}
        </button>
      )}
      <button ref={settings} type="button" className={css.problems} onClick={() => showDialog({ kind: 'editor' })}>
        {say.editorSettings}
      </button>
      <button type="button" className={css.problems} onClick={() => showDialog({ kind: 'reference' })}>
        {reference.title}
      </button>
      <Others />
      <ServerStatus />
    </>
  );
}

/** Shows the cursor position, which changes with every key. */
function Place() {
  const { inText, line, column } = useCursor();
  return inText && <span className={css.number}>{say.lnCol(line, column)}</span>;
}
