import type { Task } from '../../api/types';
import changes from '../../diff/Changes.module.css';
import { DiffFile } from '../../diff/DiffFile';
import { Lines } from '../../diff/Lines';
import { tasksPage as say } from '../../texts/tasks';
import entries from '../../ui/Entries.module.css';
import { VerdictView } from '../../verdict/VerdictView';

/**
 * Shows the program that a language model wrote for a task, with the policy gate's verdict. All lines of the program
 * are marked as new.
 */
export function Program({ program }: { program: NonNullable<Task['program']> }) {
  const { explanation, plan, files, model, verdict } = program;
  return (
    <section className={entries.section} aria-label={say.program}>
      <h2>{say.program}</h2>
      <p className={entries.lead}>{say.writtenBy(model)}</p>
      {explanation !== '' && <p>{explanation}</p>}
      {plan.length > 0 && (
        <ol>
          {plan.map((step, n) => (
            <li key={n}>{step}</li>
          ))}
        </ol>
      )}
      {verdict && <VerdictView verdict={verdict} />}
      <div className={changes.changes}>
        {Object.entries(files).map(([path, text]) => {
          const lines = added(typeof text === 'string' ? text : '');
          return (
            <DiffFile key={path} path={path} kind={say.added} unified={lines}>
              <div className={changes.scroll} role="region" aria-label={say.linesOf(path)} tabIndex={0}>
                <Lines text={lines} />
              </div>
            </DiffFile>
          );
        })}
      </div>
    </section>
  );
}

/** Returns the unified diff of a new file. Its first two lines, the names of the files, are not shown. */
const added = (text: string): string =>
  [
    '',
    '',
    ...text
      .trimEnd()
      .split('\n')
      .map((line) => `+${line}`),
  ].join('\n');
