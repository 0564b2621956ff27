import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { CodeEditor, Failure, Problem } from '../editor/codeEditor';
import type { EditorKit } from '../editor/kit';
import { keys, usePythonVersion } from '../api/queries';
import { getPackageTypes } from '../api/verbs';
import { loadEditor } from '../editor/load';
import type { Workspace } from '../editor/workspace';
import type { PythonState, PythonView } from '../editor/python';
import { calledTypes } from '../schema/calledAgents';
import { agentTypes, packageTypes } from '../schema/declarations';
import { parametersOf } from '../schema/toPython';
import type { Files } from '../api/types';
import { useCommand } from '../state/commands';
import { notify } from '../state/notices';
import type { Tab } from '../state/urlState';
import { Empty } from '../ui/Empty';
import { Retry } from '../ui/Retry';
import { classes } from '../ui/classes';
import { editorPane as say } from '../texts/files';
import { problemAt, useOpenAgent, useOpenFiles, type OpenAgent } from '../agent/openAgent';
import { SchemaBar, SchemaSheet, useSchemaRows } from '../features/schemas/SchemaView';
import { useCursor } from '../agent/cursor';
import { BinaryView } from '../agent/BinaryView';
import css from './EditorPane.module.css';
import { EditorTabs } from './EditorTabs';
import { ModuleView } from '../features/files/ModuleView';
import { pathOf, schemaPaths, tabOf } from '../agent/schemaPaths';
import { useOpinionMarkers } from '../features/assist/useOpinionMarkers';
import { useCalledAgents } from './useCalledAgents';
import { useServerMarkers } from '../features/files/useServerMarkers';
import type { Tabs } from '../agent/useTabs';

interface Props {
  tabs: Tabs;
  failure: Failure | undefined;
  onProblems: (problems: Problem[]) => void;
  onPython: (python: PythonView) => void;
}

type Kit = { kind: 'loading' } | { kind: 'ready'; kit: EditorKit } | { kind: 'failed' };

/** The tabs and the editor below them. Until the editor is loaded, the file is shown as plain text. */
export function EditorPane({ tabs, ...events }: Props) {
  const agent = useOpenAgent();
  const files = useOpenFiles();
  const [kit, setKit] = useState<Kit>({ kind: 'loading' });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let gone = false;
    loadEditor().then(
      (loaded) => !gone && setKit({ kind: 'ready', kit: loaded }),
      () => !gone && setKit({ kind: 'failed' }),
    );
    return () => {
      gone = true;
    };
  }, [attempt]);

  const { active } = tabs;
  const text = textOf(agent, files, active);
  const schema = active.kind === 'schema' ? active.which : undefined;
  const rows = useSchemaRows(schema);
  const inText = text !== undefined && rows === undefined;
  useEffect(() => useCursor.setState({ inText }), [inText]);
  return (
    <div className={css.pane}>
      <EditorTabs tabs={tabs} agent={agent} />
      <Banner agent={agent} tab={active} />
      {schema && <SchemaBar which={schema} />}
      <div className={css.host}>
        {kit.kind === 'failed' && (
          <Empty actions={<Retry onRetry={() => setAttempt((n) => n + 1)} />}>{say.notLoaded}</Empty>
        )}
        {kit.kind === 'loading' && text !== undefined && <pre className={css.text}>{text}</pre>}
        {kit.kind === 'ready' && (
          <div inert={rows !== undefined}>
            <MonacoHost kit={kit.kit} tabs={tabs} text={text} {...events} />
          </div>
        )}
        {schema && rows && <SchemaSheet key={schema} which={schema} rows={rows} />}
        {text === undefined && <Binary tab={active} />}
      </div>
    </div>
  );
}

type Events = Pick<Props, 'onProblems' | 'onPython'>;

interface HostProps extends Props {
  kit: EditorKit;
  text: string | undefined;
}

/** The files that may name packages. */
const packageLists = ['requirements.txt', 'pyproject.toml', 'package.json', 'package-lock.json'];
const noFiles: Record<string, string> = {};

function MonacoHost({ kit, tabs, text, failure, ...events }: HostProps) {
  const agent = useOpenAgent();
  const files = useOpenFiles();
  const { active, target } = tabs;
  const host = useRef<HTMLDivElement>(null);
  const modeLine = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<CodeEditor>();
  const [workspace, setWorkspace] = useState<Workspace>();
  const [python, setPython] = useState<PythonState>('off');
  const latest = useRef<{ agent: OpenAgent; files: Files; events: Events; tabs: Tabs }>({ agent, files, events, tabs });
  useEffect(() => {
    latest.current = { agent, files, events, tabs };
  });

  const key = agent.version === undefined ? agent.id : `${agent.id}@${agent.version}`;
  useEffect(() => {
    if (!host.current || !modeLine.current) return;
    const opened = kit.createWorkspace(key, {
      edit: (path, now) => edit(latest.current.agent, path, now),
      python: setPython,
      marked: () => latest.current.events.onProblems(opened.problems()),
    });
    const created = kit.createEditor(host.current, modeLine.current, {
      cursor: (line, column) => useCursor.setState({ line, column }),
      problems: (problems) => latest.current.events.onProblems(problems),
      open: (path, line, column) => latest.current.tabs.open(tabOf(path), line, column),
    });
    useCursor.setState({ line: 1, column: 1 });
    setWorkspace(opened);
    setEditor(created);
    return () => {
      created.dispose();
      opened.dispose();
    };
  }, [kit, key]);

  const { inputSchema, outputSchema, environment, secrets, entrypoint, packages } = agent.fields;
  const { language, capabilities } = agent.fields;
  const lists = packageLists.map((path) => files[path]).filter((text) => typeof text === 'string');
  const typed = packages.length > 0 || lists.length > 0;
  const types = useQuery({
    queryKey: keys.packageTypes(agent.name, agent.version ?? 'draft', [...packages, ...lists].join('\n')),
    enabled: typed && agent.save.kind === 'saved', // the server answers for the saved list
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (query.state.data?.installed === false ? 5000 : false), // a run installs them too
    queryFn: () => getPackageTypes(agent.name, agent.version ?? 'draft'),
  }).data;
  const packageFiles = (typed ? types?.files : undefined) ?? noFiles;
  const called = useCalledAgents(capabilities);
  useEffect(() => kit.setPackageFiles(language === 'python' ? noFiles : packageFiles), [kit, language, packageFiles]);
  useEffect(() => {
    if (!workspace) return;
    const timer = setTimeout(() => {
      const types = agentTypes(inputSchema, outputSchema, [...Object.keys(environment), ...secrets]);
      const agents = calledTypes(called);
      kit.setTypes(types.typescript + packageTypes(packages, packageFiles) + agents.typescript);
      const parameters = parametersOf(inputSchema).map(([name]) => name);
      workspace.python.update({
        types: types.python,
        agents: agents.python,
        parameters,
        entrypoint,
        packages: packageFiles,
      });
    }, 150);
    return () => clearTimeout(timer);
  }, [kit, workspace, inputSchema, outputSchema, environment, secrets, entrypoint, packages, packageFiles, called]);

  const path = pathOf(active);
  const readOnly = agent.session === undefined;
  const shown = text !== undefined;
  const format = async (): Promise<void> => {
    if (!(await editor?.format())) notify('failed', say.noFormatter);
  };
  useCommand('file.format', editor && shown && !readOnly ? () => void format() : undefined);

  const { onPython } = events;
  useEffect(() => onPython({ state: python, retry: () => workspace?.python.retry() }), [onPython, python, workspace]);
  const version = usePythonVersion();
  useEffect(() => workspace?.python.runsIn(version), [workspace, version]);

  useEffect(() => {
    if (!editor || !workspace || !shown) return;
    const { agent: now, files: texts } = latest.current;
    editor.show(workspace, path, textOf(now, texts, active) ?? '', readOnly);
    if (target.line !== undefined) editor.reveal(target.line, target.column);
    if (target.turn > 0) editor.focus();
    performance.mark('editor-ready');
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the path is the tab
  }, [editor, workspace, path, readOnly, shown, target]);

  useEffect(() => editor?.fail(failure), [editor, failure]);

  const input = agent.schemas.input.text;
  const output = agent.schemas.output.text;
  useEffect(() => {
    workspace?.sync({ ...files, [schemaPaths.input]: input, [schemaPaths.output]: output });
  }, [workspace, files, input, output, path]);

  useServerMarkers(agent, workspace);
  useOpinionMarkers(agent, workspace);
  const { runtime } = agent.fields;
  useEffect(() => {
    kit.setEngine(
      runtime,
      Object.values(files).filter((content) => typeof content === 'string'),
    );
  }, [kit, runtime, files]);

  return (
    <div className={css.monaco} hidden={!shown}>
      <div ref={host} className={css.code} />
      <div ref={modeLine} className={css.mode} />
    </div>
  );
}

function edit({ session, editSchema }: OpenAgent, path: string, text: string): void {
  if (path === schemaPaths.input) return editSchema('input', text);
  if (path === schemaPaths.output) return editSchema('output', text);
  session?.setFile(path, text);
}

function textOf({ schemas }: OpenAgent, files: Files, tab: Tab): string | undefined {
  if (tab.kind === 'schema') return schemas[tab.which].text;
  const content = files[tab.path];
  // A module can be valid UTF-8 by chance, but is never edited as text.
  return typeof content === 'string' && !isModule(tab.path) ? content : undefined;
}

const isModule = (path: string): boolean => path.endsWith('.wasm');

/** Shows a file without text. */
function Binary({ tab }: { tab: Tab }) {
  const files = useOpenFiles();
  if (tab.kind !== 'file') return null;
  const content = files[tab.path];
  if (content !== undefined && isModule(tab.path)) return <ModuleView path={tab.path} content={content} />;
  return content === undefined ? null : <BinaryView path={tab.path} content={content} />;
}

function Banner({ agent, tab }: { agent: OpenAgent; tab: Tab }) {
  if (tab.kind !== 'schema') return null;
  const { fault } = agent.schemas[tab.which];
  const message = fault ?? problemAt(agent.save, `/${tab.which}Schema`);
  return message === undefined ? null : (
    <p role="alert" className={classes(css.banner)}>
      {fault === undefined ? say.notSavedUntilFixed(message) : say.lastValidIsKept(message)}
    </p>
  );
}
