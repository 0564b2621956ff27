// Stores the cursor position in the open file. The position changes with every key. Components subscribe to it
// separately, so that the rest of the screen does not render again.
import { create } from 'zustand';

export interface Cursor {
  line: number;
  column: number;
  /** Whether the open tab shows text. */
  inText: boolean;
}

export const useCursor = create<Cursor>()(() => ({ line: 1, column: 1, inText: true }));
