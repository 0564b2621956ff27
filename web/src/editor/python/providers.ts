// Defines Monaco providers for Python. Each forwards requests to the service of the model's agent.
import type * as lsp from 'vscode-languageserver-types';
import { python as say } from '../../texts/editor';
import { monaco } from '../monaco';
import { documented, fromCompletion, fromEdit, fromRange, fromText, toPosition } from './convert';
import type { PythonService } from './service';

type Model = monaco.editor.ITextModel;
type Find = (model: Model) => PythonService | undefined;

export function registerProviders(find: Find): void {
  const { languages } = monaco;
  languages.registerCompletionItemProvider('python', completions(find));
  languages.registerHoverProvider('python', {
    async provideHover(model, position, token) {
      const at = { position: toPosition(position) };
      const hover = (await find(model)?.ask('textDocument/hover', model, at, token)) as lsp.Hover | undefined;
      const text = fromText(hover?.contents as lsp.MarkupContent | undefined);
      return text && { contents: [text], ...(hover?.range && { range: fromRange(hover.range) }) };
    },
  });
  languages.registerSignatureHelpProvider('python', {
    signatureHelpTriggerCharacters: ['(', ',', ')'],
    signatureHelpRetriggerCharacters: [','],
    async provideSignatureHelp(model, position, token, context) {
      const at = { position: toPosition(position), context: { ...context, activeSignatureHelp: undefined } };
      const help = (await find(model)?.ask('textDocument/signatureHelp', model, at, token)) as
        lsp.SignatureHelp | undefined;
      return help && { value: fromSignatures(help), dispose: () => undefined };
    },
  });
  languages.registerDefinitionProvider('python', {
    async provideDefinition(model, position, token) {
      const at = { position: toPosition(position) };
      return places(await find(model)?.ask('textDocument/definition', model, at, token));
    },
  });
  languages.registerReferenceProvider('python', {
    async provideReferences(model, position, context, token) {
      const at = { position: toPosition(position), context };
      return places(await find(model)?.ask('textDocument/references', model, at, token));
    },
  });
  languages.registerRenameProvider('python', renames(find));
}

const words = new WeakMap<monaco.languages.CompletionItem, { service: PythonService; item: lsp.CompletionItem }>();

function completions(find: Find): monaco.languages.CompletionItemProvider {
  return {
    triggerCharacters: ['.', '[', '"', "'"],
    async provideCompletionItems(model, position, context, token) {
      const service = find(model);
      if (!service) return undefined;
      const at = {
        position: toPosition(position),
        // In Monaco the numbers of trigger kinds start at 0, in the protocol at 1.
        context: { triggerKind: context.triggerKind + 1, triggerCharacter: context.triggerCharacter },
      };
      service.readAll();
      const list = (await service.ask('textDocument/completion', model, at, token)) as
        lsp.CompletionList | lsp.CompletionItem[] | undefined;
      if (!list) return undefined;
      const word = model.getWordUntilPosition(position);
      const range = monaco.Range.fromPositions(
        { lineNumber: position.lineNumber, column: word.startColumn },
        { lineNumber: position.lineNumber, column: word.endColumn },
      );
      const items = Array.isArray(list) ? list : list.items;
      const suggestions = items.map((item) => {
        const suggestion = fromCompletion(item, range);
        words.set(suggestion, { service, item });
        return suggestion;
      });
      return { suggestions, incomplete: !Array.isArray(list) && list.isIncomplete };
    },
    async resolveCompletionItem(suggestion, token) {
      const asked = words.get(suggestion);
      if (!asked) return suggestion;
      const item = (await asked.service.resolve(asked.item, token)) as lsp.CompletionItem | undefined;
      return item ? Object.assign(suggestion, documented(item)) : suggestion;
    },
  };
}

function renames(find: Find): monaco.languages.RenameProvider {
  return {
    async provideRenameEdits(model, position, newName, token) {
      const at = { position: toPosition(position), newName };
      const edit = (await find(model)?.ask('textDocument/rename', model, at, token)) as lsp.WorkspaceEdit | undefined;
      const documents = (edit?.documentChanges ?? []).filter((change) => 'edits' in change);
      const edits = documents.flatMap(({ textDocument, edits: changes }) =>
        changes
          .filter((change) => 'newText' in change)
          .map((change) => ({
            resource: monaco.Uri.parse(textDocument.uri),
            versionId: undefined,
            textEdit: fromEdit(change),
          })),
      );
      return edits.length > 0 ? { edits } : { edits, rejectReason: say.cannotBeRenamed };
    },
    async resolveRenameLocation(model, position, token) {
      const at = { position: toPosition(position) };
      const place = (await find(model)?.ask('textDocument/prepareRename', model, at, token)) as
        lsp.Range | { range: lsp.Range } | undefined;
      const found = place && ('range' in place ? place.range : place);
      const none = { range: monaco.Range.fromPositions(position), text: '', rejectReason: say.cannotBeRenamed };
      if (!found) return none;
      const range = fromRange(found);
      return { range, text: model.getValueInRange(range) };
    },
  };
}

/** Returns only locations in the agent's own files, because the editor cannot show the standard library. */
function places(found: unknown): monaco.languages.Location[] {
  const list = (Array.isArray(found) ? found : found ? [found] : []) as lsp.Location[];
  return list
    .map(({ uri, range }) => ({ uri: monaco.Uri.parse(uri), range: fromRange(range) }))
    .filter(({ uri }) => monaco.editor.getModel(uri) !== null);
}

function fromSignatures({ signatures, activeSignature, activeParameter }: lsp.SignatureHelp) {
  return {
    activeSignature: activeSignature ?? 0,
    activeParameter: activeParameter ?? signatures[activeSignature ?? 0]?.activeParameter ?? 0,
    signatures: signatures.map(({ label, documentation, parameters, activeParameter: active }) => ({
      label,
      ...documentationOf(documentation),
      ...(active !== undefined && active !== null && { activeParameter: active }),
      parameters: (parameters ?? []).map((p) => ({ label: p.label, ...documentationOf(p.documentation) })),
    })),
  };
}

function documentationOf(text: string | lsp.MarkupContent | undefined): { documentation?: monaco.IMarkdownString } {
  const documentation = fromText(text);
  return documentation ? { documentation } : {};
}
