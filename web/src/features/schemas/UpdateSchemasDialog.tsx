import { useQuery } from '@tanstack/react-query';
import { ApiError, explain } from '../../api/http';
import { stringifyJson } from '../../api/json';
import { inferSchemas, schemasFromRuns } from '../../api/verbs';
import { closeDialog } from '../../state/dialogs';
import { common } from '../../texts/common';
import { fromCode as say } from '../../texts/schemas';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Waiting } from '../../ui/Waiting';
import { schemaOf, useOpenAgent, useOpenFiles } from '../../agent/openAgent';
import { TextDiff } from '../../diff/TextDiff';
import { canonical } from '../../provenance/canonical';
import css from './UpdateSchemasDialog.module.css';

const sides = ['input', 'output'] as const;

/**
 * Compares the schemas of the draft with schemas that are inferred from the code or from recorded runs. The user can
 * replace the draft's schemas.
 */
export function UpdateSchemasDialog({ from }: { from: 'code' | 'runs' }) {
  const agent = useOpenAgent();
  const files = useOpenFiles();
  const { language, entrypoint, environment, packages, rules, runtime } = agent.fields;
  const found = useQuery({
    queryKey: ['infer', from, agent.id, language, entrypoint, environment, packages, rules, runtime, files],
    queryFn: () =>
      from === 'runs'
        ? schemasFromRuns(agent.name)
        : inferSchemas({ language, files, entrypoint, environment, packages, runtime, ...(rules && { rules }) }),
    gcTime: 0,
    retry: false,
  });
  const inferred = found.data;
  const texts = sides.map((side) => {
    const now = schemaOf(agent.fields, side);
    const next = inferred && schemaOf({ ...agent.fields, ...inferred }, side);
    return {
      side,
      before: `${stringifyJson(now, 2)}\n`,
      after: next === undefined ? '' : `${stringifyJson(next, 2)}\n`,
      differs: next !== undefined && canonical(now) !== canonical(next),
    };
  });
  const changed = texts.filter(({ differs }) => differs);
  const apply = (): void => {
    if (!inferred) return;
    for (const { side, before, after, differs } of texts)
      agent.editSchema(side, differs ? after : before, inferred.schemaSources[side]);
    closeDialog();
  };
  return (
    <Dialog
      wide
      title={say.title[from]}
      about={say.about[from]}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          <Button look="primary" disabled={!inferred} onClick={apply}>
            {say.apply}
          </Button>
        </>
      }
    >
      <div className={css.parts}>
        {found.isPending && <Waiting shape="code" what={say.waiting[from]} retry />}
        {found.error && <Refused error={found.error} />}
        {inferred && changed.length === 0 && <p role="status">{say.same[from]}</p>}
        {changed.map(({ side, before, after }) => (
          <section key={side} aria-label={say.schema(side)}>
            <h3>{say.schema(side)}</h3>
            <TextDiff
              path={say.file(side)}
              before={before}
              after={after}
              sides={{ before: say.before, after: say.after[from] }}
              inline
            />
          </section>
        ))}
        {inferred && inferred.notes.length > 0 && (
          <section aria-label={say.notes}>
            <h3>{say.notes}</h3>
            <Located items={inferred.notes} />
          </section>
        )}
      </div>
    </Dialog>
  );
}

function Refused({ error }: { error: Error }) {
  return (
    <div role="alert" className={css.error}>
      <p>{say.notInferred(explain(error))}</p>
      <Located items={error instanceof ApiError ? error.fields : []} />
    </div>
  );
}

interface Item {
  file?: string;
  line?: number;
  pointer?: string;
  message: string;
}

function Located({ items }: { items: readonly Item[] }) {
  return (
    <ul className={css.items}>
      {items.map(({ file, line, pointer, message }) => (
        <li key={`${file ?? ''} ${line ?? 0} ${pointer ?? ''} ${message}`}>
          {file !== undefined && (
            <code>
              {file}:{line ?? 1}
            </code>
          )}{' '}
          {pointer !== undefined && pointer !== '' && <code>{pointer}</code>} {message}
        </li>
      ))}
    </ul>
  );
}
