import { useEffect, useRef, useState } from 'react';
import type { JsonSchema } from '../../api/types';
import type { JsonInput as Editor, JsonProblem } from '../../editor/jsonInput';
import { loadEditor } from '../../editor/load';
import { inputTab as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import css from './InputTab.module.css';

interface Props {
  id: string;
  text: string;
  wrong: boolean;
  schema: JsonSchema;
  onEdit: (text: string) => void;
}

/** The maximum number of errors that are listed below the editor. */
const mostProblems = 4;

/** The input as JSON, with completion and errors from the schema. Until the editor is loaded it is a plain field. */
export function JsonInput({ id, text, wrong, schema, onEdit }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const [editor, setEditor] = useState<Editor>();
  const [problems, setProblems] = useState<JsonProblem[]>([]);
  const latest = useRef({ text, schema, onEdit });
  useEffect(() => {
    latest.current = { text, schema, onEdit };
  });
  useEffect(() => {
    let opened: Editor | undefined;
    let gone = false;
    loadEditor().then(
      (kit) => {
        if (gone || !host.current) return;
        const typing = plain.current !== null && plain.current === document.activeElement;
        const at = plain.current?.selectionStart;
        opened = kit.createJsonInput(host.current, {
          label: say.inputAsJson,
          text: latest.current.text,
          schema: latest.current.schema,
          onEdit: (typed) => latest.current.onEdit(typed),
          onProblems: setProblems,
        });
        // If the user was typing in the plain field, the focus moves to the editor.
        if (typing) opened.focus(at);
        setEditor(opened);
      },
      () => undefined, // the editor could not be loaded, so the plain field stays
    );
    return () => {
      gone = true;
      opened?.dispose();
    };
  }, []);
  useEffect(() => editor?.show(text), [editor, text]);
  useEffect(() => editor?.setSchema(schema), [editor, schema]);
  return (
    <>
      <div className={css.raw} data-invalid={wrong || problems.length > 0}>
        {!editor && (
          <textarea
            ref={plain}
            id={id}
            aria-label={say.inputAsJson}
            aria-invalid={wrong}
            spellCheck={false}
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
      {problems.length > 0 && (
        <ul className={css.lines} aria-label={say.jsonProblems}>
          {problems.slice(0, mostProblems).map((problem, i) => (
            <li key={i}>
              <Button look="link" onClick={() => editor?.goTo(problem)}>
                {say.line(problem.line)}
              </Button>
              : {problem.message}
            </li>
          ))}
          {problems.length > mostProblems && <li>{say.andMore(problems.length - mostProblems)}</li>}
        </ul>
      )}
    </>
  );
}
