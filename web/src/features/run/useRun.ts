// Manages the run of the open agent: its input, its controller, and the changes of the screen.
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { keys, queryClient } from '../../api/queries';
import { parseJson, type Json } from '../../api/json';
import type { FieldProblem } from '../../api/types';
import { execute } from '../../api/verbs';
import { setLayout } from '../../state/layout';
import { notify } from '../../state/notices';
import { initialValue } from '../../schema/form/defaults';
import { reduceInput, startInput, type InputAction, type InputState } from '../../schema/form/input';
import { check } from '../../schema/validate';
import { unsaved as say, useRun as sayRun } from '../../texts/run';
import type { OpenAgent } from '../../agent/openAgent';
import type { Tabs } from '../../agent/useTabs';
import { RunController, type RunView } from './controller';
import { rememberedInput, rememberInput } from '../../agent/rememberedInput';
import { savedInputs } from '../../agent/savedInputs';

export interface RunHandle {
  controller: RunController;
  view: RunView;
  input: InputState;
  changeInput: (action: InputAction) => void;
  /** Errors in the input. They appear after the first attempt to start a run, and disappear when they are fixed. */
  problems: FieldProblem[];
  start: () => void;
  /** Starts a run with the given input instead of the input in the form. */
  startWith: (input: Json) => void;
  /** Repeats the last run; undefined if there is no last run. */
  again: (() => void) | undefined;
  stop: () => void;
  open: (runId: string) => void;
  showInput: () => void;
  /** The limits of the run on the screen; undefined for a run from the history. */
  memoryLimit: number | undefined;
  busy: boolean;
  /** Increases each time that the first invalid field should get the focus. */
  focusProblem: number;
}

export function useRun(agent: OpenAgent, tabs: Tabs): RunHandle {
  const { id, name, version, session } = agent;
  const { inputSchema } = agent.fields;
  const [controller] = useState(() => new RunController());
  const view = useSyncExternalStore(controller.subscribe, controller.get);
  const [input, changeInput] = useReducer(reduceInput, undefined, () => firstInput(agent));
  const [tried, setTried] = useState(false);
  const [last, setLast] = useState<Json>();
  const [memoryLimit, setMemoryLimit] = useState<number>();
  const [focusProblem, setFocusProblem] = useState(0);
  const busy = view.run.kind === 'starting' || view.run.kind === 'queued' || view.run.kind === 'running';

  const local = useMemo(() => check(input.value, inputSchema), [input.value, inputSchema]);
  const refused = view.run.kind === 'refused' ? view.run.fields : none;
  const problems = useMemo(
    () => (tried ? (local.length > 0 ? local : refused.map(inInput)) : none),
    [tried, local, refused],
  );

  const fits = input.fault === undefined && local.length === 0 && Object.keys(input.partial).length === 0;
  useEffect(() => rememberInput(id, input.text), [id, input.text]);

  const followed = useRef(inputSchema);
  useEffect(() => {
    const before = followed.current;
    followed.current = inputSchema;
    if (before !== inputSchema) changeInput({ do: 'follow', before, after: inputSchema });
  }, [inputSchema]);

  const { showPanel, run: shownRun } = tabs;
  const latest = useRef({ input, fits, panel: tabs.panel });
  useLayoutEffect(() => {
    latest.current = { input, fits, panel: tabs.panel };
  });

  const { memoryBytes } = agent.fields.limits;
  const launch = useCallback(
    (value: Json) => {
      setLast(value);
      setMemoryLimit(memoryBytes || undefined);
      void begin(controller, agent, value).then((runId) => {
        if (runId !== undefined) showPanel('console', runId);
        else if (fieldsOf(controller) > 0) {
          showPanel('input');
          setFocusProblem((n) => n + 1);
        } else if (controller.get().run.kind === 'refused') showPanel('result');
      });
    },
    // eslint-disable-next-line react-hooks/exhaustive-deps -- these say which draft or version it is
    [controller, name, version, session, memoryBytes, showPanel],
  );

  const start = useCallback(() => {
    const { input: now, fits: ready } = latest.current;
    setTried(true);
    setLayout({ bottomOpen: true, pane: 'output' });
    if (!ready) {
      showPanel('input');
      setFocusProblem((n) => n + 1);
      return;
    }
    launch(now.value);
  }, [launch, showPanel]);
  const startWith = useCallback(
    (value: Json) => {
      setLayout({ bottomOpen: true, pane: 'output' });
      launch(value);
    },
    [launch],
  );
  const again = useCallback(() => {
    if (last !== undefined) startWith(last);
  }, [startWith, last]);

  const { forgetRun } = tabs;
  const attach = useCallback(
    (runId: string) =>
      controller.attach(runId, id).then((found) => {
        if (found) return;
        forgetRun();
        notify('failed', sayRun.isNotHere);
      }),
    [controller, id, forgetRun],
  );
  const open = useCallback(
    (runId: string) => {
      void attach(runId);
      setMemoryLimit(undefined);
      showPanel('console', runId);
    },
    [attach, showPanel],
  );
  const stop = useCallback(() => void controller.stop(), [controller]);

  // The URL may contain a run, which is shown from its first event.
  const [linked] = useState(shownRun);
  useEffect(() => {
    if (linked !== undefined) void attach(linked);
    return () => controller.detach();
  }, [controller, attach, linked]);

  const done = view.run.kind === 'done' ? view.run.runId : undefined;
  useEffect(() => {
    if (done === undefined) return;
    void queryClient.invalidateQueries({ queryKey: keys.runs(name) });
    if (done !== linked && latest.current.panel === 'console') showPanel('result');
  }, [done, linked, name, showPanel]);

  const showInput = useCallback(() => showPanel('input'), [showPanel]);
  return {
    controller,
    view,
    input,
    changeInput,
    problems,
    start,
    startWith,
    again: last === undefined ? undefined : again,
    stop,
    open,
    showInput,
    memoryLimit,
    busy,
    focusProblem,
  };
}

const none: FieldProblem[] = [];
const inInput = ({ pointer, message }: FieldProblem): FieldProblem => ({
  pointer: pointer.replace(/^\/input(?=\/|$)/, ''),
  message,
});
const fieldsOf = (controller: RunController): number => {
  const { run } = controller.get();
  return run.kind === 'refused' ? run.fields.length : 0;
};

/** The run uses the draft on the screen, so unsaved edits are saved first. */
function begin(
  controller: RunController,
  { name, version, session }: OpenAgent,
  input: Json,
): Promise<string | undefined> {
  return controller.start(async () => {
    if (!session) return execute(name, version ?? 'draft', input);
    if (!(await session.flush())) throw new Error(unsaved[session.get().save.kind] ?? say.other);
    return session.withRevision((revision) => execute(name, 'draft', input, revision));
  });
}

const unsaved: Record<string, string> = say;

/**
 * Returns the last input in this browser. If there is none, it returns the first input that is saved with the agent.
 */
function firstInput({ id, about, fields }: OpenAgent): InputState {
  const kept = rememberedInput(id) ?? Object.values(savedInputs(about.metadata))[0];
  if (kept === undefined) return startInput(fields.inputSchema);
  try {
    return startInput(fields.inputSchema, parseJson(kept));
  } catch {
    return reduceInput({ ...startInput(fields.inputSchema), mode: 'json' }, { do: 'text', text: kept });
  }
}

export const defaultInput = (agent: OpenAgent): Json => initialValue(agent.fields.inputSchema) ?? {};
