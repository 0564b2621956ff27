// Controls the tour of the workbench. It starts automatically at the first visit. After the user has left it, it does
// not start automatically again.
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { isObject } from '../api/json';

interface Tour {
  /** The step on the screen; undefined while there is no tour. */
  step: number | undefined;
  done: boolean;
}

export const steps = ['code', 'config', 'run', 'history', 'publish'] as const;
export type Step = (typeof steps)[number];

const initial: Tour = { step: undefined, done: false };

export const useTour = create<Tour>()(
  persist((): Tour => initial, {
    name: 'atelier.tour',
    partialize: ({ done }) => ({ done }),
    merge: (kept) => ({ ...initial, done: isObject(kept) && kept['done'] === true }),
  }),
);

export function startTour(): void {
  useTour.setState({ step: 0 });
}
export function leaveTour(): void {
  useTour.setState({ step: undefined, done: true });
}

/** Starts the tour if this browser has not seen it. */
export function offerTour(): void {
  const { step, done } = useTour.getState();
  if (step === undefined && !done) startTour();
}

/** Moves by one step. After the last step, the tour ends. */
export function moveTour(by: 1 | -1): void {
  const next = (useTour.getState().step ?? 0) + by;
  if (next >= steps.length) leaveTour();
  else useTour.setState({ step: Math.max(0, next) });
}
