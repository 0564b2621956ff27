// How somebody likes their editor, kept in their browser.
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { isOneOf, isSwitch, isWithin, settingsOf } from '../api/storage';

export interface EditorSettings {
  fontSize: number;
  wrap: boolean;
  /** Whether the console breaks long lines. */
  wrapOutput: boolean;
  minimap: boolean;
  /** Spaces of a step; 0 is what the language is used to. */
  tabSize: number;
  /** Whether Python has its language service, which takes memory. */
  python: boolean;
  /** Whose keys it has: its own, or those of another editor. */
  keys: 'own' | 'vim';
}

export const fontSizes = { min: 10, max: 24 };

const kept = 'atelier.editor';

const initial: EditorSettings = {
  fontSize: 13,
  wrap: false,
  wrapOutput: false,
  minimap: false,
  tabSize: 0,
  python: true,
  keys: 'own',
};

export const readEditorSettings = (was: unknown): EditorSettings =>
  settingsOf(was, initial, {
    fontSize: isWithin(fontSizes.min, fontSizes.max),
    wrap: isSwitch,
    wrapOutput: isSwitch,
    minimap: isSwitch,
    tabSize: isWithin(0, 8),
    python: isSwitch,
    keys: isOneOf('own', 'vim'),
  });

export const useEditorSettings = create<EditorSettings>()(
  persist((): EditorSettings => initial, { name: kept, merge: readEditorSettings }),
);

// What is chosen in one tab holds in all.
if (typeof window !== 'undefined')
  window.addEventListener('storage', ({ key }) => {
    if (key === kept) void useEditorSettings.persist.rehydrate();
  });
