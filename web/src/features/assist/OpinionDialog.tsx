import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { explain } from '../../api/http';
import type { Remark } from '../../api/types';
import { askOpinion } from '../../api/assist';
import { useOpenAgent, useOpenFiles } from '../../agent/openAgent';
import { useOpinions } from '../../agent/opinions';
import { closeDialog } from '../../state/dialogs';
import { opinionDialog as say, proposals } from '../../texts/assist';
import { common } from '../../texts/common';
import { Button } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Markdown } from '../../ui/Markdown';
import { Waiting } from '../../ui/Waiting';
import css from './Proposal.module.css';

interface Props {
  kind: 'explain' | 'review';
  onGoTo: ((path: string, line: number, column: number) => void) | undefined;
}

/** Shows a language model's explanation or review of the draft. The editor also marks the findings of a review. */
export function OpinionDialog({ kind, onGoTo }: Props) {
  const { id, name, session } = useOpenAgent();
  const files = useOpenFiles();
  const found = useQuery({
    queryKey: ['opinion', kind, id],
    queryFn: async ({ signal }) => {
      if (!session || !(await session.flush())) throw new Error(proposals.notSaved);
      return askOpinion(kind, name, signal);
    },
    gcTime: 0,
    retry: false,
    staleTime: Infinity, // no automatic repetition, because each answer costs tokens
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const opinion = found.isFetching ? undefined : found.data;
  useEffect(() => {
    if (kind !== 'review' || !opinion) return;
    useOpinions.setState({ agent: id, model: opinion.model, remarks: opinion.findings, files });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the files of the moment of the review
  }, [opinion, kind, id]);
  return (
    <Dialog
      medium
      title={say.titles[kind]}
      about={say.about[kind]}
      onClose={closeDialog}
      foot={
        <>
          <Button disabled={found.isFetching} onClick={() => void found.refetch()}>
            {proposals.again}
          </Button>
          <Button look="primary" onClick={closeDialog}>
            {common.done}
          </Button>
        </>
      }
    >
      {found.isFetching && <Waiting shape="lines" what={say.waiting} />}
      <Fault message={!found.isFetching && found.error ? explain(found.error) : undefined} />
      {opinion && (
        <div className={css.proposal}>
          <Markdown text={opinion.text} />
          {kind === 'review' && (
            <ul className={css.findings} aria-label={say.findings}>
              {opinion.findings.map((finding, n) => (
                <li key={n}>
                  <Finding finding={finding} onGoTo={onGoTo} />
                </li>
              ))}
            </ul>
          )}
          <p className={css.quiet}>{say.model(opinion.model, opinion.tokens.input + opinion.tokens.output)}</p>
        </div>
      )}
    </Dialog>
  );
}

function Finding({ finding, onGoTo }: { finding: Remark; onGoTo: Props['onGoTo'] }) {
  const { file, line, severity, message } = finding;
  return (
    <>
      <span className={classes(css.severity, severity === 'high' && css.high)}>{say.severities[severity]}</span>
      <Button
        look="link"
        onClick={() => {
          closeDialog();
          onGoTo?.(file, line, 1);
        }}
      >
        {file}:{line}
      </Button>
      <p>{message}</p>
    </>
  );
}
