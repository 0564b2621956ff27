// Extends Monaco's TypeScript worker. It also suggests names that other files and modules export, and returns the edits
// that import these names.
import { initialize, TypeScriptWorker } from 'monaco-editor/languages/features/typescript/ts.worker';
import type { CompletionEntryData, SymbolDisplayPart, UserPreferences } from 'typescript';

export interface Suggestion {
  name: string;
  kind: string;
  sortText: string;
  deprecated: boolean;
  /** The characters that the suggestion replaces, if they are not the word at the cursor. */
  span?: Span;
  /** The module for which the suggestion adds an import. */
  source?: Source;
}

export interface Span {
  start: number;
  length: number;
}

export interface Source {
  /** The name of the module in the import. */
  module: string;
  id: string;
  data: CompletionEntryData | undefined;
}

export interface SuggestionDetails {
  signature: string;
  documentation: string;
  /** The edits that add the import. */
  edits: (Span & { text: string })[];
}

const preferences: UserPreferences = { includeCompletionsForModuleExports: true };
const format = { indentSize: 2, tabSize: 2, convertTabsToSpaces: true, newLineCharacter: '\n' };

export class SuggestingWorker extends TypeScriptWorker {
  /**
   * Without a folder, TypeScript fails to write the path of an import. So the names of all files start with this
   * folder.
   */
  override getCurrentDirectory(): string {
    return 'file:///';
  }

  suggestions(file: string, position: number): Promise<Suggestion[]> {
    const found = this.getLanguageService().getCompletionsAtPosition(file, position, preferences, format);
    const suggestions = (found?.entries ?? []).flatMap((entry): Suggestion[] => {
      const { name, kind, sortText, kindModifiers = '', replacementSpan: span } = entry;
      const module = moduleOf(entry.sourceDisplay, entry.data);
      // A package is imported by its name. A path into its folder would not resolve in the sandbox.
      if (entry.source !== undefined && (module === undefined || module.includes('node_modules'))) return [];
      return [
        {
          name,
          kind,
          sortText,
          deprecated: /\bdeprecated\b/.test(kindModifiers),
          ...(span && { span }),
          ...(entry.source !== undefined &&
            module !== undefined && { source: { module, id: entry.source, data: entry.data } }),
        },
      ];
    });
    return Promise.resolve(suggestions);
  }

  suggestionDetails(
    file: string,
    position: number,
    name: string,
    source: Source | undefined,
  ): Promise<SuggestionDetails | undefined> {
    const service = this.getLanguageService();
    const { id, data } = source ?? {};
    const found = service.getCompletionEntryDetails(file, position, name, format, id, preferences, data);
    if (!found) return Promise.resolve(undefined);
    const changes = found.codeActions?.flatMap((action) => action.changes) ?? [];
    return Promise.resolve({
      signature: textOf(found.displayParts),
      documentation: [textOf(found.documentation), ...(found.tags ?? []).map(tagText)].join('\n\n').trim(),
      edits: changes
        .filter(({ fileName }) => fileName === file)
        .flatMap(({ textChanges }) => textChanges.map(({ span, newText }) => ({ ...span, text: newText }))),
    });
  }
}

const textOf = (parts: SymbolDisplayPart[] | undefined): string => (parts ?? []).map(({ text }) => text).join('');

const tagText = ({ name, text }: { name: string; text?: SymbolDisplayPart[] }): string =>
  `*@${name}* ${textOf(text)}`.trim();

function moduleOf(display: SymbolDisplayPart[] | undefined, data: CompletionEntryData | undefined): string | undefined {
  return data?.moduleSpecifier ?? (display ? textOf(display) : undefined);
}

// Monaco's worker waits for a message when it is imported. This worker then replaces it.
self.onmessage = () => initialize((context, data) => new SuggestingWorker(context, data));
