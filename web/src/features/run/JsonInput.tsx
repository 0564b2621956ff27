import { useRef, useState } from 'react';
import type { JsonSchema } from '../../api/types';
import { CodeField, type CodeFieldControl } from '../../editor/CodeField';
import type { FieldProblem } from '../../editor/field';
import { inputTab as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { classes } from '../../ui/classes';
import css from './InputTab.module.css';

interface Props {
  id: string;
  text: string;
  wrong: boolean;
  /** Whether the text is still the untouched default. Then the errors of the schema are not shown yet. */
  untouched: boolean;
  schema: JsonSchema;
  onEdit: (text: string) => void;
}

/** The maximum number of errors that are listed below the editor. */
const mostProblems = 4;

/** The input as JSON, with completion and errors from the schema. */
export function JsonInput({ wrong, untouched, ...field }: Props) {
  const editor = useRef<CodeFieldControl>(null);
  const [found, setFound] = useState<FieldProblem[]>([]);
  const problems = untouched ? [] : found;
  return (
    <>
      <CodeField
        {...field}
        ref={editor}
        label={say.inputAsJson}
        language="json"
        className={classes(css.raw, untouched && css.untouched)}
        wrong={wrong || problems.length > 0}
        onProblems={setFound}
      />
      {problems.length > 0 && (
        <ul className={css.lines} aria-label={say.jsonProblems}>
          {problems.slice(0, mostProblems).map((problem, i) => (
            <li key={i}>
              <Button look="link" onClick={() => editor.current?.goTo(problem)}>
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
