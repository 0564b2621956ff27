// How somebody likes their editor, kept in their browser.
import { create } from 'zustand';
import { persist } from 'zustand/middleware';

export interface EditorSettings {
  fontSize: number;
  wrap: boolean;
  minimap: boolean;
  /** Spaces of a step; 0 is what the language is used to. */
  tabSize: number;
  /** Whether Python has its language service, which takes memory. */
  python: boolean;
}

export const fontSizes = { min: 10, max: 24 };

export const useEditorSettings = create<EditorSettings>()(
  persist((): EditorSettings => ({ fontSize: 13, wrap: false, minimap: false, tabSize: 0, python: true }), {
    name: 'atelier.editor',
  }),
);
