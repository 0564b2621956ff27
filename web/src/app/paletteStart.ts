// Stores the text that the user typed, and the element that had the focus, before the command palette was loaded.
import { create } from 'zustand';

export const usePaletteStart = create<{ typed: string; before: readonly Element[] | undefined }>(() => ({
  typed: '',
  before: undefined,
}));

/** Clears the stored data when the palette has read it or was closed. */
export const clearPaletteStart = (): void => usePaletteStart.setState({ typed: '', before: undefined });
