// How the screen is divided, kept over visits.
import { create } from 'zustand';
import { persist } from 'zustand/middleware';

export type Pane = 'files' | 'code' | 'output' | 'config';

interface Layout {
  left: number;
  right: number;
  bottom: number;
  leftOpen: boolean;
  rightOpen: boolean;
  bottomOpen: boolean;
  maximised: boolean;
  problemsOpen: boolean;
  /** On a narrow screen the configuration is a sheet over the editor, closed at first. */
  sheetOpen: boolean;
  /** On a phone one pane is shown at a time. */
  pane: Pane;
  schemaAs: 'table' | 'json';
  sections: Record<string, boolean>;
}

export const useLayout = create<Layout>()(
  persist(
    (): Layout => ({
      left: 240,
      right: 320,
      bottom: 280,
      leftOpen: true,
      rightOpen: true,
      bottomOpen: true,
      maximised: false,
      problemsOpen: false,
      sheetOpen: false,
      pane: 'code',
      schemaAs: 'table',
      sections: {
        general: false,
        runtime: true,
        input: true,
        output: true,
        environment: false,
        network: false,
        secrets: false,
        safety: false,
        versions: true,
      },
    }),
    { name: 'atelier.layout', partialize: ({ sheetOpen: _s, maximised: _m, pane: _p, ...kept }) => kept },
  ),
);

export function setLayout(change: Partial<Layout>): void {
  useLayout.setState(change);
}

export const sheetBelow = 1100;
export const singleBelow = 760;
const narrow = matchMedia(`(width < ${sheetBelow}px)`);

export function toggleRight(): void {
  if (narrow.matches)
    useLayout.setState((l) => ({ sheetOpen: !l.sheetOpen, pane: l.pane === 'config' ? 'code' : 'config' }));
  else useLayout.setState((l) => ({ rightOpen: !l.rightOpen }));
}

/** Makes the configuration visible whatever the width. */
export function showRight(section: string): void {
  useLayout.setState((l) => ({
    rightOpen: true,
    sheetOpen: true,
    pane: 'config',
    sections: { ...l.sections, [section]: true },
  }));
}
