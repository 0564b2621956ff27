// The only file that imports Monaco, because its minor releases move paths. It is loaded lazily, through load.ts.
import * as monaco from 'monaco-editor/editor';
import 'monaco-editor/features/register.all';
import 'monaco-editor/languages/definitions/javascript/register';
import 'monaco-editor/languages/definitions/typescript/register';
import 'monaco-editor/languages/definitions/python/register';
import 'monaco-editor/languages/definitions/shell/register';
// What these would fetch when a file of theirs is opened comes with them: a server that is away by then would leave the editor
// without colours or language service for good, and Monaco throws what it could not fetch at the page.
import 'monaco-editor/languages/definitions/javascript/javascript';
import 'monaco-editor/languages/definitions/typescript/typescript';
import 'monaco-editor/languages/definitions/python/python';
import 'monaco-editor/languages/definitions/shell/shell';
import 'monaco-editor/languages/features/typescript/tsMode';
import 'monaco-editor/languages/features/json/jsonMode';
import * as typescript from 'monaco-editor/languages/features/typescript/register';
import * as json from 'monaco-editor/languages/features/json/register';
import EditorWorker from 'monaco-editor/editor/editor.worker?worker';
import TypeScriptWorker from 'monaco-editor/languages/features/typescript/ts.worker?worker';
import JsonWorker from 'monaco-editor/languages/features/json/json.worker?worker';

function workerOf(label: string): Worker {
  if (label === 'typescript' || label === 'javascript') return new TypeScriptWorker();
  return label === 'json' ? new JsonWorker() : new EditorWorker();
}

self.MonacoEnvironment = {
  getWorker(_id, label) {
    const worker = workerOf(label);
    worker.addEventListener('error', (event) => {
      // Its script could not be loaded: the server is away, as the draft says. Monaco would throw the event at the page.
      if (!(event instanceof ErrorEvent)) (event as Event).stopImmediatePropagation();
    });
    return worker;
  },
};

// Run is Ctrl+Enter everywhere; Monaco would insert a line.
const { CtrlCmd, Shift } = monaco.KeyMod;
monaco.editor.addKeybindingRules([
  { keybinding: CtrlCmd | monaco.KeyCode.Enter, command: '-editor.action.insertLineAfter' },
  { keybinding: CtrlCmd | Shift | monaco.KeyCode.Enter, command: '-editor.action.insertLineBefore' },
]);

export { monaco, typescript, json };
