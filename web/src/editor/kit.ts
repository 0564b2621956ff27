// Defines the editor's interface to the page. The caller must dispose of every object that it creates.
import { openField, type CodeFieldEditor, type CodeFieldOptions } from './field';
import { setUpJson } from './json';
import { monaco } from './monaco';
import { setUpShell } from './shell';
import { setUpFormatters } from './format/setUp';
import { followTheme } from './theme';
import { setEngine, setPackageFiles, setTypes, setUpTypeScript } from './typescript';
import { Workspace, type WorkspaceEvents } from './workspace';
import { CodeEditor, type EditorEvents } from './codeEditor';
import { openReader, type Reader } from './reader';
import { loadSuggestions, suggestionsLoaded } from './suggestions';
import { openDiff, type DiffSides, type DiffView } from './diff';

export interface EditorKit {
  createEditor(host: HTMLElement, modeLine: HTMLElement, events: EditorEvents): CodeEditor;
  createWorkspace(name: string, events: WorkspaceEvents): Workspace;
  createReader(host: HTMLElement): Reader;
  createField(host: HTMLElement, options: CodeFieldOptions): CodeFieldEditor;
  /** Loads the code that shows suggestions. Only editors that are created later can show suggestions. */
  loadSuggestions(): Promise<void>;
  suggestionsLoaded(): boolean;
  createDiff(host: HTMLElement, sides: DiffSides, inline: boolean): DiffView;
  setTypes(declarations: string): void;
  setPackageFiles(files: Record<string, string>): void;
  setEngine(runtime: string, sources: readonly string[]): void;
}

let kit: EditorKit | undefined;

export function openKit(): EditorKit {
  kit ??= makeKit();
  return kit;
}

function makeKit(): EditorKit {
  followTheme(monaco);
  setUpTypeScript();
  setUpJson();
  setUpShell();
  setUpFormatters();
  return {
    createEditor: (host, modeLine, events) => new CodeEditor(host, modeLine, events),
    createWorkspace: (name, events) => new Workspace(name, events),
    createReader: openReader,
    createField: openField,
    loadSuggestions,
    suggestionsLoaded,
    createDiff: openDiff,
    setTypes,
    setPackageFiles,
    setEngine,
  };
}
