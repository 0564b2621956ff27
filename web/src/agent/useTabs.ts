// The open tabs. The address names the active tab, line and panel.
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { agentUrl, readUrl, writeUrl, type Panel, type Tab, type UrlState } from '../state/urlState';
import { setLayout, useLayout } from '../state/layout';
import { useSearch } from '../state/search';
import type { OpenAgent } from './openAgent';

export interface Tabs {
  all: Tab[];
  active: Tab;
  /** The position to show, and a number that rises with every request to show it. */
  target: { line: number | undefined; column: number | undefined; turn: number };
  panel: Panel;
  run: string | undefined;
  open: (tab: Tab, line?: number, column?: number) => void;
  close: (tab: Tab) => void;
  renamed: (from: string, to: string) => void;
  showPanel: (panel: Panel, run?: string) => void;
  /** Takes the run out of the address. */
  forgetRun: () => void;
}

export const tabKey = (tab: Tab): string => (tab.kind === 'file' ? `file:${tab.path}` : `schema:${tab.which}`);
export const sameTab = (a: Tab, b: Tab): boolean => tabKey(a) === tabKey(b);

export function useTabs(agent: OpenAgent): Tabs {
  const { name, version, fields, paths } = agent;
  const { entrypoint } = fields;
  const search = useSearch();
  const url = useMemo(() => readUrl(search), [search]);
  const [, navigate] = useLocation();
  const entry: Tab = useMemo(() => ({ kind: 'file', path: entrypoint }), [entrypoint]);
  const [opened, setOpened] = useState<Tab[]>(() => [entry]);
  const [asked, setAsked] = useState<{ turn: number; column?: number | undefined }>({ turn: 0 });

  const exists = (tab: Tab): boolean => tab.kind === 'schema' || paths.includes(tab.path);
  const wanted = url.tab && exists(url.tab) ? url.tab : undefined;
  const kept = opened.filter(exists);
  const all = wanted && !kept.some((t) => sameTab(t, wanted)) ? [...kept, wanted] : kept;
  const active = wanted ?? kept[0] ?? entry;

  // Handlers read the latest address from a ref, so that they stay stable.
  const latest = useRef({ url, all, active });
  useLayoutEffect(() => {
    latest.current = { url, all, active };
  });
  const go = useCallback(
    (change: UrlState, drop: (keyof UrlState)[] = []) => {
      const next: UrlState = { ...latest.current.url, ...change };
      for (const key of drop) Reflect.deleteProperty(next, key);
      navigate(agentUrl(name, version) + writeUrl(next), { replace: true });
    },
    [navigate, name, version],
  );

  const open = useCallback(
    (tab: Tab, line?: number, column?: number) => {
      setOpened((now) => {
        const shown = latest.current.all.length > now.length ? latest.current.all : now;
        return shown.some((t) => sameTab(t, tab)) ? shown : [...shown, tab];
      });
      setAsked(({ turn }) => ({ turn: turn + 1, column }));
      setLayout({ pane: 'code', sheetOpen: false, ...(useLayout.getState().maximised ? { maximised: false } : {}) });
      go(line === undefined ? { tab } : { tab, line }, line === undefined ? ['line'] : []);
    },
    [go],
  );

  const close = useCallback(
    (tab: Tab) => {
      const { all: tabs, active: now } = latest.current;
      const rest = tabs.filter((t) => !sameTab(t, tab));
      setOpened(rest);
      if (!sameTab(tab, now)) return;
      const next = rest[Math.max(0, tabs.findIndex((t) => sameTab(t, tab)) - 1)];
      go(next ? { tab: next } : {}, next ? ['line'] : ['tab', 'line']);
    },
    [go],
  );

  const renamed = useCallback(
    (from: string, to: string) => {
      const moved = (tab: Tab): Tab => {
        if (tab.kind !== 'file') return tab;
        if (tab.path === from) return { kind: 'file', path: to };
        return tab.path.startsWith(`${from}/`) ? { kind: 'file', path: to + tab.path.slice(from.length) } : tab;
      };
      setOpened(latest.current.all.map(moved));
      go({ tab: moved(latest.current.active) });
    },
    [go],
  );

  const showPanel = useCallback(
    (panel: Panel, run?: string) => go(run === undefined ? { panel } : { panel, run }),
    [go],
  );

  const forgetRun = useCallback(() => go({}, ['run']), [go]);

  return useMemo(
    () => ({
      all,
      active,
      target: { line: url.line, column: asked.column, turn: asked.turn },
      panel: url.panel ?? 'input',
      run: url.run,
      open,
      close,
      renamed,
      showPanel,
      forgetRun,
    }),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the lists are new each time; their keys say when they differ
    [all.map(tabKey).join('\n'), tabKey(active), url, asked, open, close, renamed, showPanel, forgetRun],
  );
}
