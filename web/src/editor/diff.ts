// Creates a diff editor for two texts, side by side or inline.
import { monaco } from './monaco';
import { languageOf } from './workspace';

export interface DiffView {
  show(path: string, before: string, after: string): void;
  dispose(): void;
}

/** The labels of the two texts. */
export interface DiffSides {
  before: string;
  after: string;
}

export function openDiff(host: HTMLElement, called: DiffSides, inline: boolean): DiffView {
  host.dataset['readOnly'] = 'true';
  const editor = monaco.editor.createDiffEditor(host, {
    automaticLayout: true,
    readOnly: true,
    renderSideBySide: !inline,
    diffWordWrap: 'on', // a side has only half of the width of a dialog
    hideUnchangedRegions: { enabled: true },
    useInlineViewWhenSpaceIsLimited: false,
    fontFamily: "'JetBrains Mono Variable', ui-monospace, monospace",
    fontSize: 12,
    lineHeight: 18,
    minimap: { enabled: false },
    scrollBeyondLastLine: false,
    renderOverviewRuler: false,
    renderMarginRevertIcon: false,
    overviewRulerLanes: 0,
    hideCursorInOverviewRuler: true,
    lineNumbersMinChars: 3,
    lineDecorationsWidth: 24, // the signs of the lines, with space on both sides
  });
  // Without the margin for icons, both sides begin at the same distance from their edge.
  editor.getOriginalEditor().updateOptions({ ariaLabel: called.before, glyphMargin: false });
  editor.getModifiedEditor().updateOptions({ ariaLabel: called.after });
  // The height of the editor is that of its lines. Equal lines are folded. Inline mode does not draw the left side.
  const sides = inline ? [editor.getModifiedEditor()] : [editor.getOriginalEditor(), editor.getModifiedEditor()];
  const border = 2;
  const fit = (): void => {
    host.style.maxHeight = `${Math.max(...sides.map((side) => side.getContentHeight())) + border}px`;
  };
  for (const side of sides) side.onDidContentSizeChange(fit);
  let shown: monaco.IDisposable[] = [];
  const clear = (): void => {
    editor.setModel(null);
    for (const one of shown) one.dispose();
    shown = [];
  };
  return {
    show(path, before, after) {
      clear();
      // Inline mode draws removed lines without colours, so the other lines have none either.
      const language = inline ? 'plaintext' : languageOf(path);
      const original = monaco.editor.createModel(before, language);
      const modified = monaco.editor.createModel(after, language);
      // Clear the model before disposal. Otherwise Monaco throws an error about a missing result.
      const view = editor.createViewModel({ original, modified });
      shown = [view, original, modified];
      editor.setModel(view);
    },
    dispose() {
      clear();
      editor.dispose();
    },
  };
}
