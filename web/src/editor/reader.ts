// Shows a read-only text with syntax colours.
import { codeEditor as say } from '../texts/editor';
import { monaco } from './monaco';
import { languageOf } from './workspace';

export interface Reader {
  show(path: string, text: string): void;
  dispose(): void;
}

export function openReader(host: HTMLElement): Reader {
  host.dataset['readOnly'] = 'true';
  const editor = monaco.editor.create(host, {
    model: null,
    automaticLayout: true,
    readOnly: true,
    domReadOnly: true,
    fontFamily: "'JetBrains Mono Variable', ui-monospace, monospace",
    fontLigatures: false,
    fontSize: 12,
    lineHeight: 18,
    lineNumbersMinChars: 3,
    padding: { top: 8, bottom: 8 },
    minimap: { enabled: false },
    scrollBeyondLastLine: false,
    overviewRulerBorder: false,
    overviewRulerLanes: 0,
    stickyScroll: { enabled: false },
    bracketPairColorization: { enabled: false },
    renderLineHighlight: 'none',
    renderValidationDecorations: 'off', // imports cannot be resolved, because the other files are not loaded
    unicodeHighlight: { ambiguousCharacters: false },
    scrollbar: { verticalScrollbarSize: 10, horizontalScrollbarSize: 10, alwaysConsumeMouseWheel: false },
  });
  let shown: monaco.editor.ITextModel | undefined;
  const clear = (): void => {
    editor.setModel(null);
    shown?.dispose();
    shown = undefined;
  };
  return {
    show(path, text) {
      clear();
      shown = monaco.editor.createModel(text, languageOf(path));
      editor.setModel(shown);
      editor.updateOptions({ ariaLabel: say.readOnly(path) });
    },
    dispose() {
      clear();
      editor.dispose();
    },
  };
}
