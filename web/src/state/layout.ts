// Stores the layout of the screen in the browser.
import { useSyncExternalStore } from 'react';
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { isObject } from '../api/json';
import { entriesOf, isOneOf, isSwitch, isText, isWithin, settingsOf } from '../api/storage';

export type Pane = 'files' | 'code' | 'output' | 'config';

interface Layout {
  left: number;
  right: number;
  bottom: number;
  /** The share of the width that the first of two editors has, in percent. */
  split: number;
  leftOpen: boolean;
  rightOpen: boolean;
  bottomOpen: boolean;
  maximised: boolean;
  problemsOpen: boolean;
  /** Whether the configuration is open on a narrow screen, where it covers the editor. It is closed at first. */
  sheetOpen: boolean;
  /** The pane that a phone shows. It shows one pane at a time. */
  pane: Pane;
  schemaAs: 'table' | 'json';
  /** The tag that selects the agents in the list; '' selects all agents. */
  tag: string;
  sections: Record<string, boolean>;
}

const initial: Layout = {
  left: 240,
  right: 320,
  bottom: 280,
  split: 50,
  leftOpen: true,
  rightOpen: true,
  bottomOpen: true,
  maximised: false,
  problemsOpen: false,
  sheetOpen: false,
  pane: 'code',
  schemaAs: 'table',
  tag: '',
  sections: {
    general: true,
    limits: false,
    runtime: true,
    input: true,
    output: true,
    environment: false,
    network: false,
    secrets: false,
    safety: false,
    versions: true,
  },
};

const isWidth = isWithin(100, 4000);

/** Returns the part that is stored. It contains neither open sheets nor the pane of a phone. */
export function readLayout(was: unknown): Layout {
  const now = settingsOf(was, initial, {
    left: isWidth,
    right: isWidth,
    bottom: isWidth,
    split: isWithin(20, 80),
    leftOpen: isSwitch,
    rightOpen: isSwitch,
    bottomOpen: isSwitch,
    problemsOpen: isSwitch,
    schemaAs: isOneOf('table', 'json'),
    tag: isText,
  });
  const sections = isObject(was) ? entriesOf(was['sections'], isSwitch) : {};
  return { ...now, sections: { ...now.sections, ...sections } };
}

export const useLayout = create<Layout>()(
  persist((): Layout => initial, {
    name: 'atelier.layout',
    merge: readLayout,
    partialize: ({ sheetOpen: _s, maximised: _m, pane: _p, ...kept }) => kept,
  }),
);

export function setLayout(change: Partial<Layout>): void {
  useLayout.setState(change);
}

export const sheetBelow = 1100;
export const singleBelow = 760;
const narrow = matchMedia(`(width < ${sheetBelow}px)`);
const phone = matchMedia(`(width < ${singleBelow}px)`);

export function toggleRight(): void {
  if (narrow.matches)
    useLayout.setState((l) => ({ sheetOpen: !l.sheetOpen, pane: l.pane === 'config' ? 'code' : 'config' }));
  else useLayout.setState((l) => ({ rightOpen: !l.rightOpen }));
}

/** Whether the configuration is visible, either next to the editor or over it. */
export function useRightSeen(): boolean {
  const over = useSyncExternalStore(followNarrow, () => narrow.matches);
  return useLayout((l) => (over ? l.sheetOpen : l.rightOpen));
}

/** Whether the screen shows one pane at a time, as in the style sheet of the workbench. */
export const usePhone = (): boolean => useSyncExternalStore(followPhone, () => phone.matches);

const follow =
  (query: MediaQueryList) =>
  (changed: () => void): (() => void) => {
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  };
const followNarrow = follow(narrow);
const followPhone = follow(phone);

/** Opens the configuration, whatever the width of the screen is. */
export function showRight(section: string): void {
  useLayout.setState((l) => ({
    rightOpen: true,
    sheetOpen: true,
    pane: 'config',
    sections: { ...l.sections, [section]: true },
  }));
}
