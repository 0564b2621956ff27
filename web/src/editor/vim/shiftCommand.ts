// Replaces an internal command of Monaco that monaco-vim imports. It indents or outdents lines with Monaco's public
// API.
import type { monaco } from '../monaco';

interface Step {
  isUnshift: boolean;
  tabSize: number;
  indentSize: number;
}

export class ShiftCommand implements monaco.editor.ICommand {
  constructor(
    private readonly at: monaco.Selection,
    private readonly step: Step,
  ) {}

  getEditOperations(model: monaco.editor.ITextModel, builder: monaco.editor.IEditOperationBuilder): void {
    const line = this.at.startLineNumber;
    const text = model.getLineContent(line);
    const indent = /^[ \t]*/.exec(text)?.[0] ?? '';
    const range = { startLineNumber: line, startColumn: 1, endLineNumber: line, endColumn: indent.length + 1 };
    // Vim does not indent empty lines.
    if (text !== '') builder.addEditOperation(range, model.normalizeIndentation(' '.repeat(this.width(indent))));
  }

  computeCursorState(): monaco.Selection {
    return this.at;
  }

  private width(indent: string): number {
    const { isUnshift, tabSize, indentSize } = this.step;
    let wide = 0;
    for (const c of indent) wide += c === '\t' ? tabSize - (wide % tabSize) : 1;
    const steps = isUnshift ? Math.ceil(wide / indentSize) - 1 : Math.floor(wide / indentSize) + 1;
    return Math.max(steps, 0) * indentSize;
  }
}
