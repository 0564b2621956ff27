// Imports Monaco. No other file imports it, because minor releases of Monaco move paths. load.ts loads this file when
// it is needed.
import * as monaco from 'monaco-editor/editor';
import 'monaco-editor/features/register.all';
import 'monaco-editor/languages/definitions/javascript/register';
import 'monaco-editor/languages/definitions/typescript/register';
import 'monaco-editor/languages/definitions/python/register';
import 'monaco-editor/languages/definitions/shell/register';
import 'monaco-editor/languages/definitions/yaml/register';
// Loads the language contributions at the start. Monaco would download each at its first use. If the server did not
// answer then, the editor would have no colours and no language service, and there would be an uncaught error.
import 'monaco-editor/languages/definitions/javascript/javascript';
import 'monaco-editor/languages/definitions/typescript/typescript';
import 'monaco-editor/languages/definitions/python/python';
import 'monaco-editor/languages/definitions/shell/shell';
import 'monaco-editor/languages/definitions/yaml/yaml';
import 'monaco-editor/languages/features/typescript/tsMode';
import 'monaco-editor/languages/features/json/jsonMode';
// The editor must have the service for inline suggestions when it starts. The code of the suggestions is loaded when
// the user switches them on.
import 'monaco-editor/editor/browser/services/inlineCompletionsService';
import * as typescript from 'monaco-editor/languages/features/typescript/register';
import * as json from 'monaco-editor/languages/features/json/register';
import EditorWorker from 'monaco-editor/editor/editor.worker?worker';
import TypeScriptWorker from './ts.worker?worker';
import JsonWorker from 'monaco-editor/languages/features/json/json.worker?worker';

function workerOf(label: string): Worker {
  if (label === 'typescript' || label === 'javascript') return new TypeScriptWorker();
  return label === 'json' ? new JsonWorker() : new EditorWorker();
}

self.MonacoEnvironment = {
  getWorker(_id, label) {
    const worker = workerOf(label);
    worker.addEventListener('error', (event) => {
      // The script of the worker could not be loaded, because the server does not answer. Monaco would throw the event.
      if (!(event instanceof ErrorEvent)) (event as Event).stopImmediatePropagation();
    });
    return worker;
  },
};

// Ctrl+Enter starts a run everywhere. By default, Monaco would insert a line.
const { CtrlCmd, Shift } = monaco.KeyMod;
monaco.editor.addKeybindingRules([
  { keybinding: CtrlCmd | monaco.KeyCode.Enter, command: '-editor.action.insertLineAfter' },
  { keybinding: CtrlCmd | Shift | monaco.KeyCode.Enter, command: '-editor.action.insertLineBefore' },
]);

export { monaco, typescript, json };
