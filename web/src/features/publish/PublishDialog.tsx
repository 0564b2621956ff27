import { useQuery } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { useLocation } from 'wouter';
import { ApiError, explain } from '../../api/http';
import { keys, queryClient, refreshAgents } from '../../api/queries';
import type { FieldProblem } from '../../api/types';
import { diff, publish } from '../../api/verbs';
import { closeDialog, showDialog } from '../../app/dialogs';
import { agentUrl } from '../../app/urlState';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { useOpenAgent, type OpenAgent } from '../agents/openAgent';
import { Reasons } from '../compare/Changes';
import css from './PublishDialog.module.css';
import { ReplaySection } from './ReplaySection';
import { bumped, isSemver, type Bump } from './semver';

type State =
  | { kind: 'asking' }
  | { kind: 'busy' }
  | { kind: 'failed'; message: string; fields: FieldProblem[]; tooSmall?: boolean }
  | { kind: 'done'; version: string };

const bumps: { bump: Bump; about: string }[] = [
  { bump: 'patch', about: 'Same input and output' },
  { bump: 'minor', about: 'More is possible, old calls still work' },
  { bump: 'major', about: 'Old calls may fail' },
];

/** Makes a version of the draft. */
export function PublishDialog() {
  const { name, latestVersion, session } = useOpenAgent();
  const first = latestVersion === '';
  const advice = useQuery({
    queryKey: keys.diff(name, 'latest', 'draft'),
    enabled: !first,
    gcTime: 0,
    queryFn: async () => {
      await session?.flush();
      return (await diff(name, latestVersion, 'draft')).advice;
    },
  });
  const advised = advice.data && advice.data.bump !== 'none' ? advice.data.bump : 'patch';
  const [chosen, setChoice] = useState<Bump | 'own' | undefined>(first ? 'own' : undefined);
  const choice = chosen ?? advised;
  const [comment, setComment] = useState('');
  const [own, setOwn] = useState(first ? '1.0.0' : '');
  const [changelog, setChangelog] = useState('');
  const [state, setState] = useState<State>({ kind: 'asking' });
  const version = choice === 'own' ? own.trim() : (bumped(latestVersion, choice) ?? '');

  const order = ['patch', 'minor', 'major'];
  const smaller =
    (choice !== 'own' && order.indexOf(choice) < order.indexOf(advised)) || (state.kind === 'failed' && state.tooSmall);

  const submit = async (e: SyntheticEvent): Promise<void> => {
    e.preventDefault();
    if (!isSemver(version)) return setState({ kind: 'failed', message: 'A version looks like 1.2.0.', fields: [] });
    setState({ kind: 'busy' });
    if (!(await flushed(session))) {
      return setState({
        kind: 'failed',
        message: 'The draft is not saved yet, so it cannot be published.',
        fields: [],
      });
    }
    try {
      const published = await publish(name, { version }, changelog.trim(), smaller ? comment.trim() : '');
      session?.published(published.version);
      void queryClient.invalidateQueries({ queryKey: keys.versions(name) });
      void refreshAgents();
      setState({ kind: 'done', version: published.version });
    } catch (error) {
      setState({
        kind: 'failed',
        message: explain(error),
        fields: error instanceof ApiError ? error.fields : [],
        tooSmall: error instanceof ApiError && error.code === 'bump_too_small',
      });
    }
  };

  if (state.kind === 'done') return <Published reference={`${name}@${state.version}`} version={state.version} />;
  return (
    <Dialog
      title={`Publish ${name}`}
      about="A version never changes. Others call it by its number, and get exactly this."
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button look="primary" type="submit" form="publish" disabled={state.kind === 'busy'}>
            Publish {version}
          </Button>
        </>
      }
    >
      <form id="publish" onSubmit={(e) => void submit(e)} style={{ display: 'grid', gap: 12 }}>
        {!first && (
          <fieldset>
            <legend className={css.legend}>The last version is {latestVersion}. The next is</legend>
            <div className={css.choices}>
              {bumps.map(({ bump, about }) => (
                <label key={bump} className={css.choice}>
                  <input type="radio" name="bump" checked={choice === bump} onChange={() => setChoice(bump)} />
                  <strong>{bumped(latestVersion, bump)}</strong>
                  <span>{bump === advised && advice.data ? `${about} (advised)` : about}</span>
                </label>
              ))}
              <label className={css.choice}>
                <input type="radio" name="bump" checked={choice === 'own'} onChange={() => setChoice('own')} />
                <strong>Another</strong>
              </label>
            </div>
          </fieldset>
        )}
        {choice === 'own' && (
          <Field label="Version" mono>
            {(control) => (
              <input {...control} value={own} autoComplete="off" onChange={(e) => setOwn(e.target.value)} />
            )}
          </Field>
        )}
        {advice.data && advice.data.reasons.length > 0 && <Reasons reasons={advice.data.reasons} />}
        {smaller && (
          <Field label="Why is it smaller than advised?">
            {(control) => (
              <input {...control} value={comment} autoComplete="off" onChange={(e) => setComment(e.target.value)} />
            )}
          </Field>
        )}
        <Field label="Changelog">
          {(control) => (
            <textarea {...control} rows={3} value={changelog} onChange={(e) => setChangelog(e.target.value)} />
          )}
        </Field>
        {!first && <ReplaySection name={name} latestVersion={latestVersion} flush={() => flushed(session)} />}
        {state.kind === 'failed' && (
          <div role="alert" className={css.error}>
            {state.message}
            <ul>
              {state.fields.map((f) => (
                <li key={f.pointer + f.message}>
                  {f.pointer}: {f.message}
                </li>
              ))}
            </ul>
          </div>
        )}
      </form>
    </Dialog>
  );
}

const flushed = async (session: OpenAgent['session']): Promise<boolean> => !session || (await session.flush());

function Published({ reference, version }: { reference: string; version: string }) {
  const { name } = useOpenAgent();
  const [, navigate] = useLocation();
  return (
    <Dialog
      title={`Published ${version}`}
      onClose={closeDialog}
      foot={
        <>
          <Button
            onClick={() => {
              closeDialog();
              navigate(agentUrl(name, version));
            }}
          >
            Open it
          </Button>
          <Button onClick={() => showDialog({ kind: 'export', version })}>Export as tool</Button>
          <Button look="primary" onClick={closeDialog}>
            Done
          </Button>
        </>
      }
    >
      <div className={css.done}>
        <span>Call it by</span>
        <code>{reference}</code>
        <CopyButton label="Copy reference" text={reference} />
      </div>
    </Dialog>
  );
}
