// Where the cursor is in the file that is shown. It moves with every key, so who shows it listens for itself and the rest of
// the screen is not drawn for it.
import { create } from 'zustand';

export interface Cursor {
  line: number;
  column: number;
  /** Whether what is shown has lines at all. */
  inText: boolean;
}

export const useCursor = create<Cursor>()(() => ({ line: 1, column: 1, inText: true }));
