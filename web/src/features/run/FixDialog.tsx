import { useQuery } from '@tanstack/react-query';
import { explain } from '../../api/http';
import { stringifyJson } from '../../api/json';
import { proposeFix } from '../../api/verbs';
import { useOpenAgent, useOpenFiles } from '../../agent/openAgent';
import { TextDiff } from '../../diff/TextDiff';
import { closeDialog } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { common } from '../../texts/common';
import { fixDialog as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Waiting } from '../../ui/Waiting';
import css from './FixDialog.module.css';

/** Shows a language model's fix for a failed run, and applies it if the person wants it. */
export function FixDialog({ runId }: { runId: string }) {
  const { session } = useOpenAgent();
  const current = useOpenFiles();
  const found = useQuery({
    queryKey: ['fix', runId],
    queryFn: async ({ signal }) => {
      if (!session || !(await session.flush())) throw new Error(say.notSaved);
      return proposeFix(runId, signal);
    },
    gcTime: 0,
    retry: false,
    staleTime: Infinity, // another answer costs another conversation
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const proposal = found.isFetching ? undefined : found.data;
  const files = Object.entries(proposal?.files ?? {}).flatMap(([path, after]) =>
    typeof after === 'string' ? [{ path, before: textOf(current[path]), after }] : [],
  );
  const apply = (): void => {
    if (!session || !proposal) return;
    const undo = (): void => {
      const now = session.get().draft.files;
      const mine = changed.filter(({ path, after }) => now[path] === after); // the others were edited since
      const files = Object.fromEntries(
        Object.entries(now).flatMap(([path, file]) => {
          const one = mine.find((change) => change.path === path);
          if (!one) return [[path, file]];
          return one.before === undefined ? [] : [[path, one.before]];
        }),
      );
      session.editDraft({ files });
    };
    const changed = Object.entries(proposal.files).map(([path, after]) => ({ path, before: current[path], after }));
    session.editDraft({ files: { ...current, ...proposal.files } });
    closeDialog();
    notify('done', say.applied, { label: say.undo, run: undo });
  };
  return (
    <Dialog
      wide
      title={say.title}
      about={say.about}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          <Button disabled={found.isFetching} onClick={() => void found.refetch()}>
            {say.again}
          </Button>
          <Button look="primary" disabled={!proposal} onClick={apply}>
            {say.apply}
          </Button>
        </>
      }
    >
      {found.isFetching && <Waiting shape="lines" what={say.waiting} />}
      <Fault message={!found.isFetching && found.error ? explain(found.error) : undefined} />
      {proposal && (
        <div className={css.proposal}>
          <p>{proposal.explanation}</p>
          <p role="status" className={proposal.trial.reason === undefined ? css.trial : css.untried}>
            {proposal.trial.reason === undefined
              ? say.succeeded(<code>{stringifyJson(proposal.trial.output ?? null).slice(0, 200)}</code>)
              : proposal.trial.reason}
          </p>
          {proposal.attempts.length > 0 && (
            <details>
              <summary>{say.attempts(proposal.attempts.length)}</summary>
              <ol>
                {proposal.attempts.map((one) => (
                  <li key={one.n}>{one.error}</li>
                ))}
              </ol>
            </details>
          )}
          {files.map(({ path, before, after }) => (
            <section key={path} aria-label={path} className={css.file}>
              <h3>{path}</h3>
              <TextDiff path={path} before={before} after={after} sides={say.sides} inline />
            </section>
          ))}
          <p className={css.model}>{say.model(proposal.model, proposal.tokens.input + proposal.tokens.output)}</p>
        </div>
      )}
    </Dialog>
  );
}

const textOf = (file: unknown): string => (typeof file === 'string' ? file : '');
