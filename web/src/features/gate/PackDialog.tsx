import { useMemo, useRef, useState } from 'react';
import { ApiError, explain } from '../../api/http';
import { refreshGate, useTrial } from '../../api/gate';
import type { RulePack } from '../../api/types';
import { putRulePack } from '../../api/gate';
import { notify } from '../../state/notices';
import { CodeField, type CodeFieldControl } from '../../editor/CodeField';
import type { FieldProblem } from '../../editor/field';
import { packDialog as say } from '../../texts/gate';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { useSettled } from '../../ui/useSettled';
import { VerdictView } from '../../verdict/VerdictView';
import css from './RulesPage.module.css';

const pause = 350;

interface Complaint {
  line: number | undefined;
  message: string;
}

/** Edits a rule pack as YAML. The server checks and tries the pack while the user types. */
export function PackDialog({ pack, taken, onClose }: { pack?: RulePack; taken: string[]; onClose: () => void }) {
  const [source, setSource] = useState(pack?.source ?? say.template);
  const [code, setCode] = useState(say.program);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>();
  const text = useRef<CodeFieldControl>(null);
  const settled = useSettled(source, pause);
  const tried = useSettled(code, pause);
  const found = useTrial({ language: 'python', code: tried.trim() === '' ? '\n#' : tried, source: settled });
  const fault = refused ?? (settled === source && found.isError ? found.error : undefined);
  const complaints = useMemo(() => (fault === undefined ? [] : complaintsOf(fault)), [fault]);
  const places = useMemo(() => complaints.filter((one) => one.line !== undefined) as FieldProblem[], [complaints]);
  const judged = fault === undefined && found.isSuccess && !found.isPlaceholderData && settled === source;
  const name = nameOf(source);
  const save = async (): Promise<void> => {
    if (name === undefined) return setRefused(new Error(say.nameMissing));
    if (pack && name !== pack.name) return setRefused(new Error(say.nameKept(pack.name)));
    if (!pack && taken.includes(name)) return setRefused(new Error(say.nameTaken(name)));
    setBusy(true);
    try {
      await putRulePack(name, source);
      await refreshGate();
      notify('done', say.saved(name));
      onClose();
    } catch (error) {
      setRefused(error);
      setBusy(false);
    }
  };
  return (
    <FormDialog
      title={pack ? say.editPack(pack.name) : say.newPack}
      about={say.about(<code>/schemas/rule-pack.json</code>)}
      verb={say.save}
      busy={busy}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <Field label={say.source}>
        {({ id }) => (
          <CodeField
            id={id}
            ref={text}
            label={say.source}
            language="yaml"
            className={css.source}
            autoFocus
            wrong={fault !== undefined}
            problems={places}
            text={source}
            onEdit={(typed) => {
              setSource(typed);
              setRefused(undefined);
            }}
          />
        )}
      </Field>
      {fault === undefined ? (
        judged && <p role="status">{say.valid}</p>
      ) : (
        <div role="alert">
          <ul className={css.complaints}>
            {complaints.map(({ line, message }) => (
              <li key={`${String(line)} ${message}`}>
                {line !== undefined && <strong>{say.line(line)}</strong>} <span>{message}</span>{' '}
                {line !== undefined && (
                  <Button look="link" onClick={() => text.current?.select(line)}>
                    {say.goToLine(line)}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Field label={say.sample}>
        {({ id }) => (
          <CodeField id={id} label={say.sample} language="python" className={css.sample} text={code} onEdit={setCode} />
        )}
      </Field>
      {found.data && judged && <VerdictView verdict={found.data} />}
    </FormDialog>
  );
}

const nameOf = (source: string): string | undefined => /^name:[ \t]*["']?([a-z][a-z0-9_-]*)/m.exec(source)?.[1];

function complaintsOf(error: unknown): Complaint[] {
  const fields = error instanceof ApiError ? error.fields : [];
  if (fields.length === 0) return [{ line: undefined, message: explain(error) }];
  return fields.slice(0, 10).map(({ line, message }) => ({ line: line === 0 ? undefined : line, message }));
}
