import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { CodeEditor, Failure, Problem } from '../editor/codeEditor';
import type { EditorKit } from '../editor/kit';
import { keys, useCapabilities, usePythonVersion } from '../api/queries';
import { getPackageTypes } from '../api/verbs';
import { loadEditor } from '../editor/load';
import { useEditorSettings } from '../editor/settings';
import type { Workspace } from '../editor/workspace';
import type { PythonState, PythonView } from '../editor/python';
import { calledTypes } from '../schema/calledAgents';
import { agentTypes, packageTypes } from '../schema/declarations';
import { parametersOf } from '../schema/toPython';
import type { Files } from '../api/types';
import { useCommand } from '../state/commands';
import { setLayout, useLayout } from '../state/layout';
import { notify } from '../state/notices';
import type { Tab } from '../state/urlState';
import { Empty } from '../ui/Empty';
import { Retry } from '../ui/Retry';
import { Splitter } from '../ui/Splitter';
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
import type { EditorGroup, Tabs } from '../agent/useTabs';

interface Props extends Events {
  tabs: Tabs;
  failure: Failure | undefined;
}

interface Events {
  onProblems: (problems: Problem[]) => void;
  onPython: (python: PythonView) => void;
}

type Kit = { kind: 'loading' } | { kind: 'ready'; kit: EditorKit } | { kind: 'failed' };

/** Shows one or two editors with their tabs. */
export function EditorPane({ tabs, failure, onProblems, onPython }: Props) {
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
  const workspace = useWorkspace(kit.kind === 'ready' ? kit.kit : undefined, { onProblems, onPython });

  const share = useLayout((layout) => layout.split);
  const pane = useRef<HTMLDivElement>(null);
  const shared = { tabs, failure, onProblems, kit, workspace, onRetry: () => setAttempt((n) => n + 1) };
  const [first, second] = tabs.groups;
  return (
    <div ref={pane} className={css.pane}>
      <Group key="first" group={first} share={second ? share : 100} {...shared} />
      {second && (
        <>
          <Splitter
            label={say.widthOfTheFirst}
            between="column"
            value={share}
            min={20}
            max={80}
            pixels={() => (pane.current?.clientWidth ?? 0) / 100}
            onChange={(split) => setLayout({ split })}
          />
          <Group key="second" group={second} share={100 - share} {...shared} />
        </>
      )}
    </div>
  );
}

interface GroupProps {
  group: EditorGroup;
  /** The share of the width that this editor has, in percent. */
  share: number;
  tabs: Tabs;
  failure: Failure | undefined;
  onProblems: Events['onProblems'];
  kit: Kit;
  workspace: Workspace | undefined;
  onRetry: () => void;
}

/** Shows the tabs and the editor below them. Until the editor is loaded, it shows the file as plain text. */
function Group({ group, share, tabs, failure, onProblems, kit, workspace, onRetry }: GroupProps) {
  const agent = useOpenAgent();
  const files = useOpenFiles();
  const { active, side } = group;
  const focused = tabs.focused.side === side;
  const text = textOf(agent, files, active);
  const schema = active.kind === 'schema' ? active.which : undefined;
  const rows = useSchemaRows(schema);
  const inText = text !== undefined && rows === undefined;
  useEffect(() => {
    if (focused) useCursor.setState({ inText });
  }, [focused, inText]);
  const split = tabs.groups.length > 1;
  return (
    <div
      className={classes(css.group, split && !focused && css.unfocused)}
      style={{ flex: `${share} 1 0` }}
      role={split ? 'region' : undefined}
      aria-label={split ? (side === 'first' ? say.firstEditor : say.secondEditor) : undefined}
      // The first editor needs no separate region, because it is already in a region of the page.
      {...(side === 'second' && { 'data-region': true, tabIndex: -1 })}
      onFocusCapture={() => tabs.focus(side)}
    >
      <EditorTabs tabs={tabs} group={group} agent={agent} />
      <Banner agent={agent} tab={active} />
      {schema && <SchemaBar which={schema} />}
      <div className={css.host}>
        {kit.kind === 'failed' && <Empty actions={<Retry onRetry={onRetry} />}>{say.notLoaded}</Empty>}
        {kit.kind === 'loading' && text !== undefined && <pre className={css.text}>{text}</pre>}
        {kit.kind === 'ready' && workspace && (
          <div inert={rows !== undefined}>
            <MonacoHost
              kit={kit.kit}
              workspace={workspace}
              tabs={tabs}
              group={group}
              text={text}
              failure={failure}
              onProblems={onProblems}
            />
          </div>
        )}
        {schema && rows && <SchemaSheet key={schema} which={schema} rows={rows} />}
        {text === undefined && <Binary tab={active} />}
      </div>
    </div>
  );
}

/** The files that may contain the names of packages. */
const packageLists = ['requirements.txt', 'pyproject.toml', 'package.json', 'package-lock.json'];
const noFiles: Record<string, string> = {};

/** Creates the models of the open agent's files, and gives the language services the agent's types. */
function useWorkspace(kit: EditorKit | undefined, { onProblems, onPython }: Events): Workspace | undefined {
  const agent = useOpenAgent();
  const files = useOpenFiles();
  const [workspace, setWorkspace] = useState<Workspace>();
  const [python, setPython] = useState<PythonState>('off');
  const latest = useRef({ agent, onProblems });
  useLayoutEffect(() => {
    latest.current = { agent, onProblems };
  });

  const key = agent.version === undefined ? agent.id : `${agent.id}@${agent.version}`;
  useLayoutEffect(() => {
    if (!kit) return;
    const opened = kit.createWorkspace(key, {
      edit: (path, now) => edit(latest.current.agent, path, now),
      python: setPython,
      marked: () => latest.current.onProblems(opened.problems()),
    });
    setWorkspace(opened);
    return () => opened.dispose();
  }, [kit, key]);

  const { inputSchema, outputSchema, environment, secrets, entrypoint, packages } = agent.fields;
  const { language, capabilities } = agent.fields;
  const lists = packageLists.map((path) => files[path]).filter((text) => typeof text === 'string');
  const typed = packages.length > 0 || lists.length > 0;
  const types = useQuery({
    queryKey: keys.packageTypes(agent.name, agent.version ?? 'draft', [...packages, ...lists].join('\n')),
    enabled: typed && agent.save.kind === 'saved', // the server's answer is about the saved list
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (query.state.data?.installed === false ? 5000 : false), // a run installs the packages too
    queryFn: () => getPackageTypes(agent.name, agent.version ?? 'draft'),
  }).data;
  const packageFiles = (typed ? types?.files : undefined) ?? noFiles;
  const called = useCalledAgents(capabilities);
  useEffect(() => kit?.setPackageFiles(language === 'python' ? noFiles : packageFiles), [kit, language, packageFiles]);
  useEffect(() => {
    if (!kit || !workspace) return;
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

  useEffect(() => onPython({ state: python, retry: () => workspace?.python.retry() }), [onPython, python, workspace]);
  const version = usePythonVersion();
  useEffect(() => workspace?.python.runsIn(version), [workspace, version]);

  const input = agent.schemas.input.text;
  const output = agent.schemas.output.text;
  useEffect(() => {
    workspace?.sync({ ...files, [schemaPaths.input]: input, [schemaPaths.output]: output });
  }, [workspace, files, input, output]);

  useServerMarkers(agent, workspace);
  useOpinionMarkers(agent, workspace);
  const { runtime } = agent.fields;
  useEffect(() => {
    kit?.setEngine(
      runtime,
      Object.values(files).filter((content) => typeof content === 'string'),
    );
  }, [kit, runtime, files]);
  return workspace;
}

interface HostProps extends Omit<GroupProps, 'share' | 'kit' | 'workspace' | 'onRetry'> {
  kit: EditorKit;
  workspace: Workspace;
  text: string | undefined;
}

function MonacoHost({ kit, workspace, tabs, group, text, failure, onProblems }: HostProps) {
  const agent = useOpenAgent();
  const files = useOpenFiles();
  const { active, target, side } = group;
  const focused = tabs.focused.side === side;
  const host = useRef<HTMLDivElement>(null);
  const modeLine = useRef<HTMLDivElement>(null);
  const [created, setCreated] = useState<{ editor: CodeEditor; workspace: Workspace }>();
  // If the workspace of files changes, the old editor is disposed. After that, nothing may be shown in it.
  const editor = created?.workspace === workspace ? created.editor : undefined;
  const hadFocus = useRef(false);
  const latest = useRef({ agent, files, onProblems, tabs, focused });
  useLayoutEffect(() => {
    latest.current = { agent, files, onProblems, tabs, focused };
  });

  const { loaded, wanted } = useSuggesting(kit);
  useEffect(() => {
    if (!host.current || !modeLine.current) return;
    const editor = kit.createEditor(host.current, modeLine.current, {
      cursor: (line, column) => latest.current.focused && useCursor.setState({ line, column }),
      problems: (problems) => latest.current.onProblems(problems),
      open: (path, line, column) => latest.current.tabs.open(tabOf(path), line, column, side),
    });
    setCreated({ editor, workspace });
    return () => {
      hadFocus.current = editor.hasFocus();
      editor.dispose();
    };
  }, [kit, workspace, side, loaded]); // an editor has only the features that were loaded before it was created
  useEffect(() => editor?.offerSuggestions(wanted), [editor, wanted]);
  useEffect(() => {
    if (editor && focused) useCursor.setState(editor.cursor());
  }, [editor, focused]);

  const path = pathOf(active);
  const readOnly = agent.session === undefined;
  const shown = text !== undefined;
  const format = async (): Promise<void> => {
    if (!(await editor?.format())) notify('failed', say.noFormatter);
  };
  useCommand('file.format', editor && shown && !readOnly && focused ? () => void format() : undefined);

  useEffect(() => {
    if (!editor || !shown) return;
    const { agent: now, files: texts } = latest.current;
    editor.show(workspace, path, textOf(now, texts, active) ?? '', readOnly);
    if (target.line !== undefined) editor.reveal(target.line, target.column);
    if (target.turn > 0 || hadFocus.current) editor.focus();
    performance.mark('editor-ready');
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the path is the tab
  }, [editor, workspace, path, readOnly, shown, target]);

  useEffect(() => editor?.fail(failure), [editor, failure]);

  return (
    <div className={css.monaco} hidden={!shown}>
      <div ref={host} className={css.code} />
      <div ref={modeLine} className={css.mode} />
    </div>
  );
}

/**
 * Whether suggestions are on: the user has switched on the setting, and the workspace has a language model that is
 * switched on. If they are, the code that shows them is loaded.
 */
function useSuggesting(kit: EditorKit): { loaded: boolean; wanted: boolean } {
  const on = useEditorSettings((settings) => settings.suggestions);
  const model = useCapabilities().data?.languageModel !== undefined;
  const [loaded, setLoaded] = useState(() => kit.suggestionsLoaded());
  const wanted = on && model;
  useEffect(() => {
    if (wanted)
      kit.loadSuggestions().then(
        () => setLoaded(true),
        () => notify('failed', say.noSuggestions),
      );
  }, [kit, wanted]);
  return { loaded, wanted };
}

function edit({ session, editSchema }: OpenAgent, path: string, text: string): void {
  if (path === schemaPaths.input) return editSchema('input', text);
  if (path === schemaPaths.output) return editSchema('output', text);
  session?.setFile(path, text);
}

function textOf({ schemas }: OpenAgent, files: Files, tab: Tab): string | undefined {
  if (tab.kind === 'schema') return schemas[tab.which].text;
  const content = files[tab.path];
  // A WebAssembly module may be valid UTF-8 by chance, but it is never edited as text.
  return typeof content === 'string' && !isModule(tab.path) ? content : undefined;
}

const isModule = (path: string): boolean => path.endsWith('.wasm');

/** Shows a file that is not text. */
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
