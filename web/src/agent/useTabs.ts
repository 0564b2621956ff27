// Stores the editors and their open tabs. The URL contains the active tabs, the line and the panel.
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { agentUrl, readUrl, writeUrl, type Panel, type Tab, type UrlState } from '../state/urlState';
import { setLayout, useLayout, usePhone } from '../state/layout';
import { useSearch } from '../state/search';
import type { OpenAgent } from './openAgent';

export type Side = 'first' | 'second';

/** One editor. The screen shows at most two editors next to each other. */
export interface EditorGroup {
  side: Side;
  all: Tab[];
  active: Tab;
  /** The position to show, and a counter that increases with every request to show it. */
  target: Target;
}

export interface Target {
  line: number | undefined;
  column: number | undefined;
  turn: number;
}

export interface Tabs {
  /** The editors from left to right. */
  groups: [EditorGroup] | [EditorGroup, EditorGroup];
  /** The editor that has the focus, or had it last. */
  focused: EditorGroup;
  panel: Panel;
  run: string | undefined;
  /** Opens a tab in the focused editor, or in the editor of `side`. */
  open: (tab: Tab, line?: number, column?: number, side?: Side) => void;
  close: (tab: Tab, side: Side) => void;
  focus: (side: Side) => void;
  /** Closes the second editor. */
  join: () => void;
  /** Whether the window is wide enough for two editors. */
  splits: boolean;
  renamed: (from: string, to: string) => void;
  showPanel: (panel: Panel, run?: string) => void;
  /** Removes the run from the URL. */
  forgetRun: () => void;
}

interface Asked {
  turn: number;
  tab?: Tab | undefined;
  line?: number | undefined;
  column?: number | undefined;
}

export const tabKey = (tab: Tab): string => (tab.kind === 'file' ? `file:${tab.path}` : `schema:${tab.which}`);
export const sameTab = (a: Tab, b: Tab): boolean => tabKey(a) === tabKey(b);
export const otherSide = (side: Side): Side => (side === 'first' ? 'second' : 'first');

export function useTabs(agent: OpenAgent): Tabs {
  const { name, version, fields, paths } = agent;
  const { entrypoint } = fields;
  const search = useSearch();
  const url = useMemo(() => readUrl(search), [search]);
  const [, navigate] = useLocation();
  const splits = !usePhone();
  const entry: Tab = useMemo(() => ({ kind: 'file', path: entrypoint }), [entrypoint]);
  const [opened, setOpened] = useState<Record<Side, Tab[]>>(() => ({ first: [entry], second: [] }));
  const [asked, setAsked] = useState<Record<Side, Asked>>({ first: { turn: 0 }, second: { turn: 0 } });
  const [focus, setFocus] = useState<Side>('first');

  const exists = (tab: Tab): boolean => tab.kind === 'schema' || paths.includes(tab.path);
  const listOf = (side: Side, wanted: Tab | undefined): { all: Tab[]; active: Tab | undefined } => {
    const kept = opened[side].filter(exists);
    const shown = wanted && exists(wanted) ? wanted : undefined;
    return {
      all: shown && !kept.some((t) => sameTab(t, shown)) ? [...kept, shown] : kept,
      active: shown ?? kept[0],
    };
  };
  const first = listOf('first', url.tab);
  const active = first.active ?? entry;
  const second = splits && url.beside ? listOf('second', url.beside) : { all: [], active: undefined };
  const firstTarget = useTarget(url.line, asked.first);
  // The URL contains one line. It applies to the tab that was opened with it, so the second editor has no line.
  const { tab: askedTab, line: askedLine } = asked.second;
  const secondLine = askedTab && second.active && sameTab(askedTab, second.active) ? askedLine : undefined;
  const secondTarget = useTarget(secondLine, asked.second);
  const left: EditorGroup = { side: 'first', all: first.all, active, target: firstTarget };
  const right: EditorGroup | undefined = second.active && {
    side: 'second',
    all: second.all,
    active: second.active,
    target: secondTarget,
  };
  const focused = focus === 'second' && right ? right : left;

  // Event handlers read the latest URL from a ref, so that the handlers do not change.
  const latest = useRef({ url, left, right, focused });
  useLayoutEffect(() => {
    latest.current = { url, left, right, focused };
  });
  const go = useCallback(
    (change: UrlState, drop: (keyof UrlState)[] = []) => {
      const next: UrlState = { ...latest.current.url, ...change };
      for (const key of drop) Reflect.deleteProperty(next, key);
      navigate(agentUrl(name, version) + writeUrl(next), { replace: true });
    },
    [navigate, name, version],
  );
  const ask = useCallback((side: Side, tab?: Tab, line?: number, column?: number) => {
    setFocus(side);
    setAsked((now) => ({ ...now, [side]: { turn: now[side].turn + 1, tab, line, column } }));
  }, []);

  const open = useCallback(
    (tab: Tab, line?: number, column?: number, side: Side = latest.current.focused.side) => {
      setOpened((now) => {
        const shown = (side === 'first' ? latest.current.left : latest.current.right)?.all ?? [];
        const list = shown.length > now[side].length ? shown : now[side];
        return list.some((t) => sameTab(t, tab)) ? { ...now, [side]: list } : { ...now, [side]: [...list, tab] };
      });
      ask(side, tab, line, column);
      setLayout({ pane: 'code', sheetOpen: false, ...(useLayout.getState().maximised ? { maximised: false } : {}) });
      if (side === 'second') return go({ beside: tab });
      go(line === undefined ? { tab } : { tab, line }, line === undefined ? ['line'] : []);
    },
    [go, ask],
  );

  const join = useCallback(() => {
    setOpened((now) => ({ ...now, second: [] }));
    ask('first');
    go({}, ['beside', 'line']);
  }, [go, ask]);

  const close = useCallback(
    (tab: Tab, side: Side) => {
      const { left: one, right: two } = latest.current;
      const group = side === 'first' ? one : two;
      if (!group) return;
      const rest = group.all.filter((t) => !sameTab(t, tab));
      setOpened((now) => ({ ...now, [side]: rest }));
      if (!sameTab(tab, group.active)) return;
      const next = rest[Math.max(0, group.all.findIndex((t) => sameTab(t, tab)) - 1)];
      if (side === 'second') return next ? go({ beside: next }) : join();
      if (next) return go({ tab: next }, ['line']);
      if (!two) return go({}, ['tab', 'line']);
      // Closing the second editor moves its tabs to the first editor.
      setOpened({ first: two.all, second: [] });
      ask('first');
      go({ tab: two.active }, ['beside', 'line']);
    },
    [go, ask, join],
  );

  const renamed = useCallback(
    (from: string, to: string) => {
      const moved = (tab: Tab): Tab => {
        if (tab.kind !== 'file') return tab;
        if (tab.path === from) return { kind: 'file', path: to };
        return tab.path.startsWith(`${from}/`) ? { kind: 'file', path: to + tab.path.slice(from.length) } : tab;
      };
      const { left: one, right: two, url: now } = latest.current;
      // A narrow window hides the second editor but keeps its tabs.
      const beside = two?.active ?? now.beside;
      setOpened(({ second }) => ({ first: one.all.map(moved), second: (two?.all ?? second).map(moved) }));
      go({ tab: moved(one.active), ...(beside && { beside: moved(beside) }) });
    },
    [go],
  );

  const showPanel = useCallback(
    (panel: Panel, run?: string) => go(run === undefined ? { panel } : { panel, run }),
    [go],
  );

  const forgetRun = useCallback(() => go({}, ['run']), [go]);

  const keys = [left, right].map((group) => group && [tabKey(group.active), ...group.all.map(tabKey)].join('\n'));
  return useMemo(
    () => ({
      groups: right ? [left, right] : [left],
      focused,
      panel: url.panel ?? 'input',
      run: url.run,
      open,
      close,
      focus: setFocus,
      join,
      splits,
      renamed,
      showPanel,
      forgetRun,
    }),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the groups are new each time; their keys say when they differ
    [...keys, focused.side, firstTarget, secondTarget, url, splits, open, close, join, renamed, showPanel, forgetRun],
  );
}

/** The value changes only if there is another position to show. So no other change moves the cursor. */
function useTarget(line: number | undefined, { turn, column }: Asked): Target {
  return useMemo(() => ({ line, column, turn }), [line, column, turn]);
}
