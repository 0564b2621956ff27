import { useState } from 'react';
import { useLocation } from 'wouter';
import { explain } from '../../api/http';
import { parseJson, stringifyJson, type Json } from '../../api/json';
import { useCapabilities } from '../../api/queries';
import type { AgentBody, ProposedAgent } from '../../api/types';
import { proposeAgent } from '../../api/assist';
import { createFrom } from '../../agent/create';
import { rememberInput } from '../../agent/rememberedInput';
import { withInputs } from '../../agent/savedInputs';
import { languageNames, nameFault } from '../../agent/starters';
import { closeDialog, useCloseOwn } from '../../state/dialogs';
import { agentUrl } from '../../state/urlState';
import { describeDialog as say, proposals } from '../../texts/assist';
import { common } from '../../texts/common';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { TextField } from '../../ui/TextField';
import { nothing, partsOf, type Part } from './parts';
import { Parts } from './Parts';
import css from './Proposal.module.css';
import { useProposal } from './useProposal';
import { Attempts, Working } from './Working';

const languages = ['typescript', 'javascript', 'python', 'bash'] as const;

/**
 * Creates an agent from a description. A language model proposes the agent, and the user accepts all or some of its
 * parts.
 */
export function DescribeDialog({ name: wanted }: { name: string }) {
  const [, navigate] = useLocation();
  const capabilities = useCapabilities();
  const { progress, start, stop } = useProposal<ProposedAgent>();
  const [description, setDescription] = useState('');
  const [language, setLanguage] = useState<(typeof languages)[number]>('typescript');
  const [example, setExample] = useState('');
  const [exampleFault, setExampleFault] = useState<string>();
  const [typedName, setTypedName] = useState(wanted);
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const closeOwn = useCloseOwn();

  const begin = (): void => {
    let inputExample: Json | undefined;
    try {
      inputExample = example.trim() === '' ? undefined : parseJson(example);
      setExampleFault(undefined);
    } catch {
      setExampleFault(say.noJson);
      return;
    }
    setLeft(new Set());
    setFault(undefined);
    const wish = { description, language, ...(inputExample !== undefined && { inputExample }) };
    start((watch, signal) => proposeAgent(wish, watch, signal));
  };
  const proposal = progress.kind === 'done' ? progress.proposal : undefined;
  const name = typedName === '' ? (proposal?.name ?? '') : typedName;
  const parts = proposal ? partsOf(nothing, changesOf(proposal)) : [];
  const create = async (made: ProposedAgent): Promise<void> => {
    const wrong = nameFault(name);
    setFault(wrong);
    if (wrong !== undefined) return;
    setBusy(true);
    try {
      const agent = await createFrom(bodyOf(made, name, parts, left));
      rememberInput(agent.id, stringifyJson(made.sampleInput, 2));
      if (closeOwn()) navigate(agentUrl(agent.name));
    } catch (error) {
      setFault(explain(error));
      setBusy(false);
    }
  };
  const runnable = languages.filter(
    (one) => capabilities.data?.languages.find((l) => l.language === one)?.available !== false,
  );
  const working = progress.kind === 'working';
  return (
    <Dialog
      wide
      title={say.title}
      about={say.about}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          {progress.kind !== 'idle' && <Button onClick={stop}>{working ? proposals.stop : say.back}</Button>}
          {!proposal && (
            <Button look="primary" disabled={working || description.trim() === ''} onClick={begin}>
              {progress.kind === 'failed' ? proposals.again : say.verb}
            </Button>
          )}
          {proposal && (
            <>
              <Button disabled={busy} onClick={begin}>
                {proposals.again}
              </Button>
              <Button look="primary" disabled={busy} onClick={() => void create(proposal)}>
                {say.create}
              </Button>
            </>
          )}
        </>
      }
    >
      {progress.kind === 'idle' && (
        <>
          <Field label={say.description} hint={say.descriptionHint}>
            {(control) => (
              <textarea
                {...control}
                rows={5}
                autoFocus
                maxLength={20_000}
                value={description}
                onChange={(e) => setDescription(e.target.value)}
              />
            )}
          </Field>
          <fieldset>
            <legend className={css.legend}>{say.language}</legend>
            <div className={css.languages}>
              {runnable.map((one) => (
                <label key={one}>
                  <input type="radio" name="language" checked={one === language} onChange={() => setLanguage(one)} />{' '}
                  {languageNames[one]}
                </label>
              ))}
            </div>
          </fieldset>
          <Field label={say.example} hint={say.exampleHint} error={exampleFault} mono>
            {(control) => (
              <textarea
                {...control}
                rows={3}
                spellCheck={false}
                value={example}
                onChange={(e) => setExample(e.target.value)}
              />
            )}
          </Field>
        </>
      )}
      {progress.kind !== 'idle' && !proposal && <p className={css.quiet}>{description}</p>}
      {working && <Working since={progress.since} attempts={progress.attempts} />}
      {progress.kind === 'failed' && (
        <>
          <Fault message={progress.message} />
          <Attempts attempts={progress.attempts} />
        </>
      )}
      {proposal && (
        <>
          <TextField label={say.name} error={fault} mono value={name} onChange={setTypedName} />
          <Parts
            proposal={proposal}
            explanation={
              <>
                <p>{proposal.description}</p>
                <h3>{say.plan}</h3>
                <ol className={css.plan}>
                  {proposal.plan.map((step, n) => (
                    <li key={n}>{step}</li>
                  ))}
                </ol>
              </>
            }
            parts={parts}
            left={left}
            onLeave={setLeft}
            succeeded={say.succeeded}
            required={`file ${proposal.entrypoint}`}
          />
        </>
      )}
    </Dialog>
  );
}

const changesOf = ({ files, inputSchema, outputSchema, tests }: ProposedAgent) => ({
  files,
  schemas: { input: inputSchema, output: outputSchema },
  tests,
});

/** Returns the agent to create, without the parts that the user skipped. */
function bodyOf(made: ProposedAgent, name: string, parts: readonly Part[], left: ReadonlySet<string>): AgentBody {
  const takes = (id: string): boolean => parts.some((part) => part.id === id) && !left.has(id);
  const { title, description, language, entrypoint, rules, inputSchema, outputSchema, tests, sampleInput } = made;
  const inputs = { [say.exampleName]: stringifyJson(sampleInput, 2) };
  return {
    name,
    title,
    description,
    language,
    entrypoint,
    files: Object.fromEntries(Object.entries(made.files).filter(([path]) => takes(`file ${path}`))),
    ...(takes('input') && { inputSchema }),
    ...(takes('output') && { outputSchema }),
    ...(takes('tests') && { tests }),
    ...(rules?.pack === 'restricted' && { rules: { pack: 'restricted' as const } }),
    metadata: withInputs({}, inputs) ?? {},
  };
}
