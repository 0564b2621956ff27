// The cursor position in the open file. It changes with every key, so components subscribe to it separately and the
// rest of the screen does not render.
import { create } from 'zustand';

export interface Cursor {
  line: number;
  column: number;
  /** Whether the open tab shows text. */
  inText: boolean;
}

export const useCursor = create<Cursor>()(() => ({ line: 1, column: 1, inText: true }));
