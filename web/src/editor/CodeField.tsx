import { useEffect, useRef, useState, type Ref, useImperativeHandle } from 'react';
import type { JsonSchema } from '../api/types';
import { classes } from '../ui/classes';
import css from './CodeField.module.css';
import type { CodeFieldEditor, FieldProblem } from './field';
import { loadEditor } from './load';

export interface CodeFieldControl {
  /** Moves the focus to the field, and selects the text of a line. */
  select(line: number): void;
  /** Moves the focus to the field, and the cursor to a problem. */
  goTo(problem: FieldProblem): void;
}

interface Props {
  id: string;
  label: string;
  language: string;
  text: string;
  onEdit: (text: string) => void;
  wrong?: boolean;
  problems?: readonly FieldProblem[];
  /** The errors that the editor underlines. */
  onProblems?: (problems: FieldProblem[]) => void;
  /** Completes and checks JSON by this schema. */
  schema?: JsonSchema;
  className?: string | undefined;
  autoFocus?: boolean;
  ref?: Ref<CodeFieldControl>;
}

const noProblems: readonly FieldProblem[] = [];

/** A text in the code editor, as a field of a form. Until the editor is loaded it is a plain field. */
export function CodeField(props: Props) {
  const { id, label, language, text, onEdit, wrong = false, problems = noProblems, schema, autoFocus = false } = props;
  const { onProblems } = props;
  const host = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const [editor, setEditor] = useState<CodeFieldEditor>();
  const latest = useRef({ label, language, text, schema, onEdit, onProblems });
  useEffect(() => {
    latest.current = { label, language, text, schema, onEdit, onProblems };
  });
  useEffect(() => {
    let opened: CodeFieldEditor | undefined;
    let gone = false;
    loadEditor().then(
      (kit) => {
        if (gone || !host.current) return;
        const typing = plain.current !== null && plain.current === document.activeElement;
        const at = plain.current?.selectionStart;
        opened = kit.createField(host.current, {
          ...latest.current,
          onEdit: (typed) => latest.current.onEdit(typed),
          onProblems: (found) => latest.current.onProblems?.(found),
        });
        // If the person was typing, the focus moves to the editor.
        if (typing) opened.focus(at);
        setEditor(opened);
      },
      () => undefined, // the plain field stays
    );
    return () => {
      gone = true;
      opened?.dispose();
    };
  }, []);
  useEffect(() => editor?.show(text), [editor, text]);
  useEffect(() => editor?.setLanguage(language), [editor, language]);
  useEffect(() => editor?.mark(problems), [editor, problems]);
  useEffect(() => {
    if (schema !== undefined) editor?.setSchema(schema);
  }, [editor, schema]);
  useImperativeHandle(props.ref, () => ({
    goTo: (problem) => editor?.goTo(problem),
    select(line) {
      if (editor) return editor.select(line);
      const start =
        text
          .split('\n')
          .slice(0, line - 1)
          .join('\n').length + (line > 1 ? 1 : 0);
      const end = text.indexOf('\n', start);
      plain.current?.focus();
      plain.current?.setSelectionRange(start, end < 0 ? text.length : end);
    },
  }));
  return (
    <div className={classes(css.field, props.className)} data-invalid={wrong}>
      {!editor && (
        <textarea
          ref={plain}
          id={id}
          aria-label={label}
          aria-invalid={wrong}
          spellCheck={false}
          wrap="off"
          autoFocus={autoFocus}
          value={text}
          onChange={(e) => onEdit(e.target.value)}
        />
      )}
      <div
        ref={host}
        className={css.editor}
        {...(editor && { id, tabIndex: -1 })}
        onFocus={(e) => e.target === e.currentTarget && editor?.focus()}
      />
    </div>
  );
}
