import { Check, Minus, ShieldCheck, X } from 'lucide-react';
import { useState } from 'react';
import { stringifyJson, type Json } from '../../api/json';
import type { RunAnswer } from '../../api/types';
import type { Finding, Part } from '../../provenance/verify';
import { provenance as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Fault } from '../../ui/Fault';
import { useTask } from '../../ui/useTask';
import css from './ResultTab.module.css';

/** Shows the digests of a run. The user can copy them and check them against the server's data. */
export function Provenance({ answer }: { answer: RunAnswer }) {
  const { provenance, runId } = answer;
  const [findings, setFindings] = useState<Finding[]>();
  const task = useTask();
  const verify = (): void =>
    task.run(async () => {
      // This button loads the code that computes digests.
      const { verifyRun } = await import('../../provenance/verify');
      setFindings(await verifyRun(answer));
    });
  const of = (part: Part): Finding | undefined => findings?.find((f) => f.part === part);
  return (
    <>
      <h2>{say.provenance}</h2>
      <dl className={css.facts}>
        <Fact label={say.run} copy={say.copyRun} value={runId} />
        <Fact label={say.version} value={provenance.version} />
        <Fact label={say.runtime} value={provenance.runtime} />
        <Fact label={say.isolation} value={provenance.isolation} />
        <Fact label={say.code} copy={say.copyCode} value={provenance.codeDigest} finding={of('code')} />
        <Fact label={say.digest} copy={say.copyDigest} value={provenance.digest} finding={of('version')} />
        <Fact label={say.input} copy={say.copyInput} value={provenance.inputsHash} finding={of('input')} />
        <Fact label={say.output} copy={say.copyOutput} value={provenance.outputsHash} finding={of('output')} />
      </dl>
      <div className={css.proof}>
        <CopyButton label={say.copyAsJson} wording={say.copyAsJson} text={() => stringifyJson(provenance, 2)} />
        <Button onClick={verify} disabled={task.busy}>
          <ShieldCheck size={14} aria-hidden />
          {say.verify}
        </Button>
      </div>
      <Fault message={task.fault} />
      <div role="status" aria-label={say.verification}>
        {findings && <Verdict findings={findings} />}
      </div>
    </>
  );
}

const words: Record<Part, string> = { code: say.code, version: say.digest, input: say.input, output: say.output };

function Verdict({ findings }: { findings: Finding[] }) {
  const wrong = findings.filter((f) => f.state === 'differs');
  const unknown = findings.filter((f) => f.state === 'unknown');
  const said = wrong.length > 0 ? wrong : unknown;
  return (
    <div className={css.verdict} data-look={wrong.length > 0 ? 'err' : unknown.length > 0 ? 'warn' : 'ok'}>
      <strong>{wrong.length > 0 ? say.doesNotMatch : unknown.length > 0 ? say.someMatches : say.allMatches}</strong>
      {said.length > 0 && (
        <ul>
          {said.map(({ part, why }) => (
            <li key={part}>{say.finding(words[part], why)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface FactProps {
  label: string;
  value: Json | undefined;
  /** The text for a copy button. Without it, the value is short and has no button. */
  copy?: string;
  finding?: Finding | undefined;
}

function Fact({ label, value, copy, finding }: FactProps) {
  if (typeof value !== 'string' || value === '') return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>
        {finding && <Mark finding={finding} />}
        {copy === undefined ? (
          value
        ) : (
          <>
            <code title={value}>{short(value)}</code>
            <CopyButton label={copy} text={value} />
          </>
        )}
      </dd>
    </>
  );
}

const marks = {
  same: Check,
  differs: X,
  unknown: Minus,
};

function Mark({ finding: { state, why } }: { finding: Finding }) {
  const Icon = marks[state];
  return (
    <span role="img" aria-label={say.marks[state]} title={why} className={css.mark} data-state={state}>
      <Icon size={12} aria-hidden />
    </span>
  );
}

/**
 * Shows the start of a hash, which is enough for a comparison, and the random end of an ID. The tooltip and the copy
 * button contain the whole value.
 */
function short(value: string): string {
  const hash = /^(sha256:)?([0-9a-f]{64})$/.exec(value)?.[2];
  if (hash !== undefined) return `${hash.slice(0, 12)}…`;
  return value.length > 16 ? `…${value.slice(-12)}` : value;
}
