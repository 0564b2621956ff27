import { useEffect, useState } from 'react';
import type { Proposal } from '../../api/types';
import { useOpenAgent, useOpenFiles } from '../../agent/openAgent';
import { closeDialog } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { proposals as say } from '../../texts/assist';
import { common } from '../../texts/common';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { useApply } from './useApply';
import { partsOf } from './parts';
import { Parts } from './Parts';
import { useProposal, type Ask } from './useProposal';
import { Attempts, Working } from './Working';

interface Props {
  title: string;
  about: string;
  applied: string;
  /** The question that the user answers first. Without a question, the model is asked immediately. */
  question?: { label: string; hint: string; verb: string };
  ask: (description: string, ...args: Parameters<Ask<Proposal>>) => Promise<Proposal>;
}

/**
 * Asks a language model for a change of the open draft, shows the proposal, and applies the parts that the user
 * accepts.
 */
export function ProposalDialog({ title, about, applied, question, ask }: Props) {
  const { session, fields } = useOpenAgent();
  const files = useOpenFiles();
  const { progress, start, stop } = useProposal<Proposal>();
  const [description, setDescription] = useState('');
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const apply = useApply();

  const begin = (): void => {
    setLeft(new Set());
    start(async (watch, signal) => {
      if (!session || !(await session.flush())) throw new Error(say.notSaved);
      return ask(description, watch, signal);
    });
  };
  useEffect(() => {
    if (question === undefined) begin();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once, because each conversation costs tokens
  }, []);

  const proposal = progress.kind === 'done' ? progress.proposal : undefined;
  const { inputSchema, outputSchema, tests = [] } = fields;
  const parts = proposal ? partsOf({ files, inputSchema, outputSchema, tests }, proposal) : [];
  const taken = parts.filter(({ id }) => !left.has(id));
  const take = (): void => {
    if (!proposal) return;
    const undo = apply(proposal, taken);
    closeDialog();
    notify('done', applied, { label: say.undo, run: undo });
  };
  const working = progress.kind === 'working';
  return (
    <Dialog
      wide
      title={title}
      about={about}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          {working && question !== undefined && <Button onClick={stop}>{say.stop}</Button>}
          {progress.kind === 'idle' && question !== undefined ? (
            <Button look="primary" disabled={description.trim() === ''} onClick={begin}>
              {question.verb}
            </Button>
          ) : (
            <>
              <Button disabled={working} onClick={begin}>
                {say.again}
              </Button>
              <Button look="primary" disabled={taken.length === 0} onClick={take}>
                {say.apply}
              </Button>
            </>
          )}
        </>
      }
    >
      {question !== undefined && (
        <Field label={question.label} hint={question.hint}>
          {(control) => (
            <textarea
              {...control}
              rows={3}
              autoFocus
              maxLength={20_000}
              readOnly={working}
              value={description}
              onChange={(e) => setDescription(e.target.value)}
            />
          )}
        </Field>
      )}
      {working && <Working since={progress.since} attempts={progress.attempts} />}
      {progress.kind === 'failed' && (
        <>
          <Fault message={progress.message} />
          <Attempts attempts={progress.attempts} />
        </>
      )}
      {proposal && (
        <Parts
          proposal={proposal}
          explanation={<p>{proposal.explanation}</p>}
          parts={parts}
          left={left}
          onLeave={setLeft}
        />
      )}
    </Dialog>
  );
}
