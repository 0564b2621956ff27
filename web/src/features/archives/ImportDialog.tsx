import { useEffect, useRef, useState, type DragEvent } from 'react';
import { Upload } from 'lucide-react';
import { Link } from 'wouter';
import { ApiError, explain } from '../../api/http';
import { refreshAgents } from '../../api/queries';
import type { FieldProblem, ImportReport } from '../../api/types';
import { importArchive } from '../../api/upload';
import { closeDialog } from '../../state/dialogs';
import { common } from '../../texts/common';
import { importDialog as say } from '../../texts/archives';
import { bytes } from '../../texts/format';
import { agentUrl } from '../../state/urlState';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Check } from '../../ui/Field';
import css from './ImportDialog.module.css';
import { changes, refusal, summary, wordsOf } from './outcome';

type State =
  | { kind: 'choosing' }
  | { kind: 'sending'; file: File; dryRun: boolean; share: number }
  | { kind: 'checked'; file: File; report: ImportReport }
  | { kind: 'refused'; file: File; dryRun: boolean; message: string; fields: FieldProblem[] }
  | { kind: 'done'; file: File; report: ImportReport };

/** Imports agents from an archive. The server checks the archive first, and the user sees the result for each agent. */
export function ImportDialog({ dropped }: { dropped: File | undefined }) {
  const [state, setState] = useState<State>({ kind: 'choosing' });
  const [listed, setListed] = useState(false);
  const stop = useRef<AbortController>(undefined);

  const send = async (file: File, dryRun: boolean): Promise<void> => {
    stop.current?.abort();
    const controller = new AbortController();
    stop.current = controller;
    setState({ kind: 'sending', file, dryRun, share: 0 });
    try {
      const report = await importArchive(file, {
        dryRun,
        listed,
        signal: controller.signal,
        onProgress: (share) => setState({ kind: 'sending', file, dryRun, share }),
      });
      setState({ kind: dryRun ? 'checked' : 'done', file, report });
    } catch (error) {
      if (controller.signal.aborted) return;
      const fields = error instanceof ApiError ? error.fields : [];
      setState({ kind: 'refused', file, dryRun, message: explain(error), fields });
    } finally {
      if (!dryRun) void refreshAgents();
    }
  };
  const begin = useRef(send);
  useEffect(() => {
    if (dropped) void begin.current(dropped, true);
    return () => stop.current?.abort();
  }, [dropped]);

  return (
    <Dialog
      medium
      title={say.importAnArchive}
      about={say.importAnArchiveAbout}
      onClose={closeDialog}
      foot={
        <Foot
          state={state}
          listed={listed}
          onImport={(file) => void send(file, false)}
          onOther={() => setState({ kind: 'choosing' })}
        />
      }
    >
      <Body state={state} onFile={(file) => void send(file, true)} />
      {state.kind === 'checked' && state.report.agents.some((agent) => agent.listed) && (
        <Check
          label={say.listAgainInThePublic}
          hint={say.listAgainInThePublicHint}
          checked={listed}
          onChange={setListed}
        />
      )}
    </Dialog>
  );
}

interface FootProps {
  state: State;
  listed: boolean;
  onImport: (file: File) => void;
  onOther: () => void;
}

function Foot({ state, listed, onImport, onOther }: FootProps) {
  const nothing = state.kind === 'checked' && !changes(state.report, listed);
  if (state.kind === 'done') {
    return (
      <Button look="primary" onClick={closeDialog}>
        {common.done}
      </Button>
    );
  }
  return (
    <>
      <Button onClick={closeDialog}>{common.cancel}</Button>
      {(state.kind === 'checked' || state.kind === 'refused') && <Button onClick={onOther}>{say.anotherFile}</Button>}
      <Button
        look="primary"
        disabled={state.kind !== 'checked' || nothing}
        onClick={() => state.kind === 'checked' && onImport(state.file)}
      >
        {say.import}
      </Button>
    </>
  );
}

function Body({ state, onFile }: { state: State; onFile: (file: File) => void }) {
  switch (state.kind) {
    case 'choosing':
      return <Choose onFile={onFile} />;
    case 'sending':
      return <Sending {...state} />;
    case 'refused':
      return (
        <div role="alert" className={css.refused}>
          <p>
            <strong>{state.file.name}</strong> {refusal(state.dryRun)} {state.message}
          </p>
          {state.fields.length > 0 && (
            <ul>
              {state.fields.map((f) => (
                <li key={f.pointer + f.message}>
                  {f.pointer === '' ? '' : `${f.pointer}: `}
                  {f.message}
                </li>
              ))}
            </ul>
          )}
        </div>
      );
    case 'checked':
    case 'done':
      return <Report report={state.report} done={state.kind === 'done'} />;
  }
}

function Choose({ onFile }: { onFile: (file: File) => void }) {
  const [over, setOver] = useState(false);
  const drop = (e: DragEvent): void => {
    e.preventDefault();
    setOver(false);
    const [file] = e.dataTransfer.files;
    if (file) onFile(file);
  };
  return (
    <label
      className={css.drop}
      data-over={over}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Upload size={20} aria-hidden />
      <span>{say.orDropItHere(<strong>{say.chooseAnArchive}</strong>)}</span>
      <small>{say.aTarGzFile}</small>
      <input
        type="file"
        className="visually-hidden"
        accept=".gz,.tgz,application/gzip"
        aria-label={say.chooseAnArchive}
        onChange={(e) => {
          const [file] = e.target.files ?? [];
          if (file) onFile(file);
        }}
      />
    </label>
  );
}

function Sending({ file, share, dryRun }: { file: File; share: number; dryRun: boolean }) {
  const sent = share >= 1;
  const doing = dryRun ? say.checking : say.importing;
  return (
    <div className={css.sending}>
      <p role="status">
        {sent
          ? `${doing} ${file.name}…`
          : say.sendingOf(file.name, bytes(Math.round(share * file.size)), bytes(file.size))}
      </p>
      <progress aria-label={`${doing} ${file.name}`} {...(sent ? {} : { value: share })} max={1} />
    </div>
  );
}

function Report({ report, done }: { report: ImportReport; done: boolean }) {
  return (
    <>
      <p role="status">{summary(report, done)}</p>
      {report.agents.length > 0 && (
        <ul className={css.report} aria-label={say.agentsOfTheArchive}>
          {report.agents.map((agent) => (
            <li key={agent.name}>
              {done ? (
                <Link href={agentUrl(agent.name)} onClick={closeDialog}>
                  {agent.name}
                </Link>
              ) : (
                <strong>{agent.name}</strong>
              )}
              <span data-outcome={agent.outcome}>{wordsOf(agent, done)}</span>
              <span>
                {[
                  ...(agent.added > 0 ? [say.versionsAdded(agent.added)] : []),
                  ...(agent.kept > 0 ? [say.thereAlready(agent.kept)] : []),
                  ...(agent.names > 0 ? [say.formerNames(agent.names)] : []),
                ].join(', ')}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
