// Provides suggestions for TypeScript and JavaScript. In addition to Monaco's suggestions, it offers names that other
// files and modules export. If the user selects such a name, the editor adds the import.
import { monaco, typescript } from './monaco';
import type { Source, SuggestingWorker, Suggestion } from './ts.worker';

type Completion = monaco.languages.CompletionItem;

interface Asked {
  model: monaco.editor.ITextModel;
  offset: number;
  source: Source | undefined;
}

const workers = { typescript: typescript.getTypeScriptWorker, javascript: typescript.getJavaScriptWorker };
const asked = new WeakMap<Completion, Asked>();

export function registerCompletions(): void {
  for (const language of ['typescript', 'javascript'] as const) {
    const defaults = typescript[`${language}Defaults`];
    defaults.setModeConfiguration({ ...defaults.modeConfiguration, completionItems: false });
    monaco.languages.registerCompletionItemProvider(language, {
      triggerCharacters: ['.'],
      async provideCompletionItems(model, position) {
        const worker = await workerOf(model, language);
        if (model.isDisposed()) return undefined;
        const offset = model.getOffsetAt(position);
        const found = await worker.suggestions(model.uri.toString(), offset);
        if (model.isDisposed()) return undefined;
        const word = model.getWordUntilPosition(position);
        const here = new monaco.Range(position.lineNumber, word.startColumn, position.lineNumber, word.endColumn);
        const suggestions = found.map((suggestion) => {
          const item = toItem(suggestion, suggestion.span ? rangeOf(model, suggestion.span) : here);
          asked.set(item, { model, offset, source: suggestion.source });
          return item;
        });
        return { suggestions };
      },
      async resolveCompletionItem(item) {
        const { model, offset, source } = asked.get(item) ?? {};
        if (!model || offset === undefined || model.isDisposed()) return item;
        const worker = await workerOf(model, language);
        const details = await worker.suggestionDetails(model.uri.toString(), offset, item.insertText, source);
        if (!details || model.isDisposed()) return item;
        return Object.assign(item, {
          detail: details.signature,
          documentation: { value: details.documentation },
          additionalTextEdits: details.edits.map((edit) => ({ range: rangeOf(model, edit), text: edit.text })),
        });
      },
    });
  }
}

async function workerOf(model: monaco.editor.ITextModel, language: keyof typeof workers): Promise<SuggestingWorker> {
  const worker = await workers[language]();
  // Monaco's type contains the methods of Monaco's own worker. monaco.ts starts our worker, which has more methods.
  return (await worker(model.uri)) as unknown as SuggestingWorker;
}

function toItem({ name, kind, sortText, deprecated, source }: Suggestion, range: monaco.Range): Completion {
  return {
    label: source ? { label: name, description: source.module } : name,
    kind: kinds[kind.split(' ').at(-1) ?? ''] ?? monaco.languages.CompletionItemKind.Property,
    insertText: name,
    sortText,
    range,
    ...(deprecated && { tags: [monaco.languages.CompletionItemTag.Deprecated] }),
  };
}

function rangeOf(model: monaco.editor.ITextModel, { start, length }: { start: number; length: number }): monaco.Range {
  return monaco.Range.fromPositions(model.getPositionAt(start), model.getPositionAt(start + length));
}

const { CompletionItemKind: Kind } = monaco.languages;
// The keys are the last words of the kinds in TypeScript's language service, such as var for "local var".
const kinds: Record<string, monaco.languages.CompletionItemKind> = {
  keyword: Kind.Keyword,
  var: Kind.Variable,
  let: Kind.Variable,
  const: Kind.Constant,
  parameter: Kind.Variable,
  property: Kind.Field,
  getter: Kind.Field,
  setter: Kind.Field,
  accessor: Kind.Field,
  function: Kind.Function,
  method: Kind.Method,
  construct: Kind.Function,
  call: Kind.Function,
  index: Kind.Function,
  enum: Kind.Enum,
  member: Kind.EnumMember,
  module: Kind.Module,
  name: Kind.Module,
  class: Kind.Class,
  interface: Kind.Interface,
  type: Kind.Interface,
  string: Kind.Constant,
  warning: Kind.File,
};
