// Stores the editor settings in the browser.
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { isOneOf, isSwitch, isWithin, settingsOf } from '../api/storage';

export interface EditorSettings {
  fontSize: number;
  wrap: boolean;
  /** Whether the console wraps long lines. */
  wrapOutput: boolean;
  /** Whether the console shows the time of each line. */
  outputTimes: boolean;
  minimap: boolean;
  /** Spaces per indentation; 0 is the language's default. */
  tabSize: number;
  /** Whether Python files have a language service, which uses much memory. */
  python: boolean;
  /** Whether the language model suggests code while a person types. */
  suggestions: boolean;
  /** The keymap, either Monaco's or that of another editor. */
  keys: 'own' | 'vim';
}

export const fontSizes = { min: 10, max: 24 };

const kept = 'atelier.editor';

const initial: EditorSettings = {
  fontSize: 13,
  wrap: false,
  wrapOutput: false,
  outputTimes: false,
  minimap: false,
  tabSize: 0,
  python: true,
  suggestions: false,
  keys: 'own',
};

export const readEditorSettings = (was: unknown): EditorSettings =>
  settingsOf(was, initial, {
    fontSize: isWithin(fontSizes.min, fontSizes.max),
    wrap: isSwitch,
    wrapOutput: isSwitch,
    outputTimes: isSwitch,
    minimap: isSwitch,
    tabSize: isWithin(0, 8),
    python: isSwitch,
    suggestions: isSwitch,
    keys: isOneOf('own', 'vim'),
  });

export const useEditorSettings = create<EditorSettings>()(
  persist((): EditorSettings => initial, { name: kept, merge: readEditorSettings }),
);

// A change applies to all tabs of the browser.
if (typeof window !== 'undefined')
  window.addEventListener('storage', ({ key }) => {
    if (key === kept) void useEditorSettings.persist.rehydrate();
  });
