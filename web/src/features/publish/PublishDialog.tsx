import { useQuery } from '@tanstack/react-query';
import { useId, useState, type SyntheticEvent } from 'react';
import { useLocation } from 'wouter';
import { useGate } from '../../api/gate';
import { ApiError, explain } from '../../api/http';
import { keys, refreshApprovals, refreshFacts, useVerdict } from '../../api/queries';
import { useRights } from '../../api/rights';
import type {
  Advice as AdviceOf,
  AwaitedPublication,
  FieldProblem,
  ReplayReport,
  RuntimeChoice,
  Verdict,
} from '../../api/types';
import { decideApproval, diff, publish, resolvePackages } from '../../api/verbs';
import { closeDialog, showDialog } from '../../state/dialogs';
import { notify } from '../../state/notices';
import { agentUrl } from '../../state/urlState';
import { approvalsPage as approvals, verdict as gateSays } from '../../texts/approvals';
import { common } from '../../texts/common';
import { packageChanges as saidOfPackages } from '../../texts/compare';
import { describedDialog as described, publishDialog as said } from '../../texts/publish';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Dialog } from '../../ui/Dialog';
import { Few } from '../../ui/Few';
import { Field } from '../../ui/Field';
import { NotLoaded } from '../../ui/NotLoaded';
import { TextField } from '../../ui/TextField';
import { Waiting } from '../../ui/Waiting';
import { useOpenAgent, type OpenAgent } from '../../agent/openAgent';
import { useUnreachable } from '../../agent/useUnreachable';
import { isStale } from '../../draft/session';
import { Reasons } from '../../diff/Changes';
import { PackageChanges } from '../../agent/PackageChanges';
import { RuntimeOutlook } from '../../agent/RuntimeOutlook';
import { RuntimeReason } from '../../agent/RuntimeReason';
import { fieldLabel } from '../../agent/fieldLabel';
import { VerdictView } from '../../verdict/VerdictView';
import { DescriptionCheck } from './DescriptionCheck';
import { EditorErrors, type EditorErrorsProps } from './EditorErrors';
import { differs, heard } from './heard';
import { OlderSchemas } from './OlderSchemas';
import css from './PublishDialog.module.css';
import { ReplaySection } from './ReplaySection';
import { bumped, isSemver, isSmaller, type Bump } from './semver';

type State =
  | { kind: 'asking' }
  | { kind: 'busy' }
  | { kind: 'failed'; message: string; fields: FieldProblem[]; tooSmall?: boolean; tests?: boolean }
  | { kind: 'waiting'; request: AwaitedPublication }
  | { kind: 'done'; version: string; choice: RuntimeChoice | undefined };

const bumps: { bump: Bump; about: string }[] = [
  { bump: 'patch', about: said.sameInputAndOutput },
  { bump: 'minor', about: said.moreIsPossibleOldCalls },
  { bump: 'major', about: said.oldCallsMayFail },
];

/** Publishes the draft as a version. */
export function PublishDialog({ editor }: { editor: EditorErrorsProps | undefined }) {
  const { name, latestVersion, fields, session } = useOpenAgent();
  const first = latestVersion === '';
  const advice = useQuery({
    queryKey: keys.diff(name, 'latest', 'draft'),
    enabled: !first,
    gcTime: 0,
    queryFn: async () => {
      await session?.flush();
      return (await ofDraft((revision) => diff(name, latestVersion, 'draft', revision))).advice;
    },
  });
  const packages = useQuery({
    queryKey: keys.packageChanges(name, session?.get().draft.revision ?? 0),
    gcTime: 0,
    retry: false,
    staleTime: Infinity, // the packages are resolved once while the dialog is open
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: async () => {
      await session?.flush();
      return ofDraft((revision) => resolvePackages(name, revision, {}));
    },
  });
  const [report, setReport] = useState<ReplayReport>();
  /** If another revision was saved, the conflict is shown instead of this dialog. */
  async function ofDraft<T>(work: (revision?: number) => Promise<T>): Promise<T> {
    try {
      return await (session ? session.withRevision(work) : work());
    } catch (error) {
      if (isStale(error)) closeDialog();
      throw error;
    }
  }
  const told = advice.data && heard(advice.data, latestVersion, report);
  // Below 1.0.0, a breaking change increases the middle number.
  const advised = bumps.find(({ bump }) => bumped(latestVersion, bump) === told?.version)?.bump ?? 'patch';
  const [chosen, setChoice] = useState<Bump | 'own' | undefined>(first ? 'own' : undefined);
  const choice = chosen ?? advised;
  const [comment, setComment] = useState('');
  const [own, setOwn] = useState(first ? '1.0.0' : '');
  // The list of changes is the default changelog.
  const [written, setChangelog] = useState<string>();
  const changelog =
    written ?? (advice.data?.reasons ?? []).map(({ message }) => `- ${message.replaceAll('`', '')}`).join('\n');
  const [state, setState] = useState<State>({ kind: 'asking' });
  const [accepts, setAccepts] = useState(false);
  const [gate, setGate] = useState(false);
  const [count, setCount] = useState(20);
  const version = choice === 'own' ? own.trim() : (bumped(latestVersion, choice) ?? '');

  const smaller = isSmaller(version, advice.data?.version ?? '');
  const forced = smaller || (state.kind === 'failed' && state.tooSmall === true);
  const verdict = useVerdict(name, session?.get().draft.revision ?? 0, true);
  const unreachable = useUnreachable();
  const causeId = useId();
  const reason = accepts ? said.sayWhyItMayBreak : said.sayWhyFirst;
  const cause = unreachable ?? ((forced || accepts) && comment.trim() === '' ? reason : undefined);

  const submit = async (e: SyntheticEvent): Promise<void> => {
    e.preventDefault();
    if (!isSemver(version)) return setState({ kind: 'failed', message: said.notAVersion, fields: [] });
    if (cause !== undefined) return;
    setState({ kind: 'busy' });
    if (!(await flushed(session))) {
      return setState({
        kind: 'failed',
        message: said.theDraftIsNotSaved,
        fields: [],
      });
    }
    try {
      const published = await ofDraft((revision) =>
        publish(
          name,
          accepts ? { bump: 'auto' } : { version },
          {
            changelog: changelog.trim(),
            comment: forced || accepts ? comment.trim() : '',
            replay: gate ? count : 0,
            acceptRegressions: accepts,
          },
          revision,
        ),
      );
      if ('approvalId' in published) {
        void refreshApprovals();
        return setState({ kind: 'waiting', request: published });
      }
      session?.published(published.version);
      refreshFacts(name);
      setState({ kind: 'done', version: published.version, choice: published.runtimeChoice });
    } catch (error) {
      setState({
        kind: 'failed',
        message: explain(error),
        fields: error instanceof ApiError ? error.fields : [],
        tooSmall: error instanceof ApiError && error.code === 'bump_too_small',
        tests: error instanceof ApiError && error.code === 'tests_failed',
      });
    }
  };

  if (state.kind === 'waiting') return <Awaited reference={`${name}@${version}`} request={state.request} />;
  if (state.kind === 'done')
    return <Published reference={`${name}@${state.version}`} version={state.version} choice={state.choice} />;
  return (
    <Dialog
      medium
      title={said.publish(name)}
      about={said.publishAbout}
      onClose={closeDialog}
      foot={
        <>
          <p id={causeId} role="status" className={cause === undefined ? 'visually-hidden' : css.cause}>
            {cause}
          </p>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          <Button
            look={forced ? 'danger' : 'primary'}
            type="submit"
            form="publish"
            disabled={state.kind === 'busy' || (!first && advice.isPending) || cause !== undefined}
            aria-describedby={causeId}
          >
            {state.kind === 'busy' && gate
              ? said.replaying
              : forced
                ? said.publishAllTheSame(version)
                : said.publish(version)}
          </Button>
        </>
      }
    >
      <form id="publish" onSubmit={(e) => void submit(e)} className={css.form}>
        {editor && <EditorErrors {...editor} />}
        <DescriptionCheck />
        <OlderSchemas />
        {!first && (
          <fieldset>
            <legend className={css.legend}>{said.theLastVersionIs(latestVersion)}</legend>
            <div className={css.choices}>
              {bumps.map(({ bump, about }) => (
                <label key={bump} className={css.choice}>
                  <input type="radio" name="bump" checked={choice === bump} onChange={() => setChoice(bump)} />
                  <strong>{bumped(latestVersion, bump)}</strong>
                  <span>{bump === advised && told ? said.advised(about) : about}</span>
                </label>
              ))}
              <label className={css.choice}>
                <input type="radio" name="bump" checked={choice === 'own'} onChange={() => setChoice('own')} />
                <strong>{said.another}</strong>
              </label>
            </div>
          </fieldset>
        )}
        {choice === 'own' && <TextField label={said.version} mono value={own} onChange={setOwn} />}
        {!first && advice.isPending && (
          <div className={css.advice}>
            <Waiting shape="lines" what={said.theAdvice} retry />
          </div>
        )}
        <NotLoaded found={advice} why={said.notTold} />
        {told && (
          <Advice advice={told} latestVersion={latestVersion} otherwise={report !== undefined && differs(report)} />
        )}
        {forced && !accepts && (
          <div className={css.forced}>
            <TextField
              label={said.whyMayItBeSmaller}
              hint={said.whyMayItBeSmallerHint(latestVersion, version)}
              value={comment}
              onChange={setComment}
            />
          </div>
        )}
        {packages.isPending && fields.packages.length > 0 && <p role="status">{saidOfPackages.resolving}</p>}
        <NotLoaded found={packages} why={saidOfPackages.notResolved} />
        {packages.data && <PackageChanges changes={packages.data.changes} />}
        {verdict.data && shows(verdict.data) && (
          <VerdictView verdict={verdict.data} onAddFlags={session && ((flags) => addFlags(session, flags))} />
        )}
        <RuntimeOutlook />
        <Field label={said.changelog}>
          {(control) => (
            <textarea {...control} rows={3} value={changelog} onChange={(e) => setChangelog(e.target.value)} />
          )}
        </Field>
        {!first && (
          <ReplaySection
            name={name}
            latestVersion={latestVersion}
            report={report}
            onReport={setReport}
            count={count}
            onCount={setCount}
            gate={gate}
            onGate={setGate}
            flush={() => flushed(session)}
            ofDraft={ofDraft}
          />
        )}
        {(accepts || (state.kind === 'failed' && state.tests === true)) && (
          <div className={css.forced}>
            <label>
              <input type="checkbox" checked={accepts} onChange={(e) => setAccepts(e.target.checked)} />{' '}
              {said.acceptRegressions}
            </label>
            {accepts && (
              <TextField
                label={said.whyMayItBreak}
                hint={said.whyMayItBreakHint}
                value={comment}
                onChange={setComment}
              />
            )}
          </div>
        )}
        {state.kind === 'failed' && (
          <div role="alert" className={css.error}>
            {state.message}
            <ul>
              {state.fields.map((f) => (
                <li key={f.pointer + f.message}>
                  {f.pointer === '' || f.pointer === '/replay' || f.pointer.startsWith('/tests/')
                    ? ''
                    : fieldLabel(f.pointer, fields)}{' '}
                  {f.message}
                </li>
              ))}
            </ul>
          </div>
        )}
      </form>
    </Dialog>
  );
}

/** Declares flags in the draft and saves it, so that the gate judges it again. */
function addFlags(session: NonNullable<OpenAgent['session']>, flags: string[]): void {
  const { safetyFlags } = session.get().draft;
  session.editDraft({ safetyFlags: [...new Set([...safetyFlags.filter((flag) => flag !== 'none'), ...flags])] });
  void session.flush();
}

/** A verdict without findings needs no place in the dialog. */
const shows = ({ findings, capabilityChanges }: Verdict): boolean => findings.length + capabilityChanges.length > 0;

interface AwaitedProps {
  reference: string;
  request: AwaitedPublication;
}

/** The publication waits for an approval. An approver can decide here if people may approve their own requests. */
function Awaited({ reference, request }: AwaitedProps) {
  const { name } = useOpenAgent();
  const [, navigate] = useLocation();
  const { may } = useRights();
  const own = useGate().data?.selfApproval === true;
  const approve = async (): Promise<void> => {
    try {
      const decided = await decideApproval(request.approvalId, { decision: 'approve', comment: '' });
      notify('done', decided.outcome ?? approvals.approved);
      closeDialog();
    } catch (error) {
      notify('failed', explain(error));
    }
    refreshFacts(name);
    await refreshApprovals();
  };
  return (
    <Dialog
      medium
      title={gateSays.waits(reference)}
      about={gateSays.waitsAbout}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.done}</Button>
          <Button
            onClick={() => {
              closeDialog();
              navigate(`/approvals/${encodeURIComponent(request.approvalId)}`);
            }}
          >
            {gateSays.openRequest}
          </Button>
          {may('approve') && own && (
            <Button look="primary" onClick={() => void approve()}>
              {gateSays.approveNow}
            </Button>
          )}
        </>
      }
    >
      {request.approvers !== undefined && <p>{approvals.approvers(request.approvers)}</p>}
      {request.warnings?.map(({ pointer, message }) => (
        <p key={pointer}>{described.warns(message)}</p>
      ))}
      <VerdictView verdict={request.verdict} />
    </Dialog>
  );
}

interface AdviceProps {
  advice: AdviceOf;
  latestVersion: string;
  /** Whether a replay returned different outputs. */
  otherwise: boolean;
}

/** The bump that the changes require, and the reasons. */
function Advice({ advice, latestVersion, otherwise }: AdviceProps) {
  if (advice.bump === 'none')
    return (
      <p role="status" className={css.legend}>
        {said.nothingDiffersFrom(latestVersion)} {otherwise && said.soItIsNotTheDraft}
      </p>
    );
  return (
    <section aria-label={said.advice} className={css.advice} data-bump={advice.bump}>
      <p role="status">{said.advisedBecause(<strong>{advice.version}</strong>, advice.bump)}</p>
      <Few items={advice.reasons} most={6}>
        {(shown) => <Reasons reasons={shown} />}
      </Few>
    </section>
  );
}

const flushed = async (session: OpenAgent['session']): Promise<boolean> => !session || (await session.flush());

interface PublishedProps {
  reference: string;
  version: string;
  choice: RuntimeChoice | undefined;
}

function Published({ reference, version, choice }: PublishedProps) {
  const { name } = useOpenAgent();
  const [, navigate] = useLocation();
  return (
    <Dialog
      title={said.published(version)}
      onClose={closeDialog}
      foot={
        <>
          <Button
            onClick={() => {
              closeDialog();
              navigate(agentUrl(name, version));
            }}
          >
            {said.openIt}
          </Button>
          <Button onClick={() => showDialog({ kind: 'export', version })}>{said.exportAsTool}</Button>
          <Button look="primary" onClick={closeDialog}>
            {common.done}
          </Button>
        </>
      }
    >
      <div className={css.done}>
        <span>{said.callItBy}</span>
        <code>{reference}</code>
        <CopyButton label={said.copyReference} text={reference} />
      </div>
      {choice && <RuntimeReason choice={choice} />}
    </Dialog>
  );
}
