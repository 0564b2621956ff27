// Keeps the text that was typed and the element that had the focus before the command palette was loaded.
import { create } from 'zustand';

export const usePaletteStart = create<{ typed: string; before: readonly Element[] | undefined }>(() => ({
  typed: '',
  before: undefined,
}));

/** Forgets it, once the palette has it or was closed. */
export const clearPaletteStart = (): void => usePaletteStart.setState({ typed: '', before: undefined });
