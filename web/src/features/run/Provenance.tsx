import { Check, Minus, ShieldCheck, X } from 'lucide-react';
import { useState } from 'react';
import { stringifyJson, type Json } from '../../api/json';
import type { RunAnswer } from '../../api/types';
import type { Finding, Part } from '../../provenance/verify';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Fault } from '../../ui/Fault';
import { useTask } from '../../ui/useTask';
import css from './ResultTab.module.css';

/** The proof of what ran: digests to copy, and to check against what the server has. */
export function Provenance({ answer }: { answer: RunAnswer }) {
  const { provenance, runId } = answer;
  const [findings, setFindings] = useState<Finding[]>();
  const task = useTask();
  const verify = (): void =>
    task.run(async () => {
      // Digests are computed by code that only this button needs.
      const { verifyRun } = await import('../../provenance/verify');
      setFindings(await verifyRun(answer));
    });
  const of = (part: Part): Finding | undefined => findings?.find((f) => f.part === part);
  return (
    <>
      <h2>Provenance</h2>
      <dl className={css.facts}>
        <Fact label="Run" value={runId} />
        <Fact label="Version" value={provenance.version} plain />
        <Fact label="Runtime" value={provenance.runtime} plain />
        <Fact label="Isolation" value={provenance.isolation} plain />
        <Fact label="Code" value={provenance.codeDigest} finding={of('code')} />
        <Fact label="Digest" value={provenance.digest} finding={of('version')} />
        <Fact label="Input" value={provenance.inputsHash} finding={of('input')} />
        <Fact label="Output" value={provenance.outputsHash} finding={of('output')} />
      </dl>
      <div className={css.proof}>
        <CopyButton label="Copy the provenance as JSON" wording="Copy" text={() => stringifyJson(provenance, 2)} />
        <Button onClick={verify} disabled={task.busy}>
          <ShieldCheck size={14} aria-hidden />
          Verify
        </Button>
      </div>
      <Fault message={task.fault} />
      <div role="status" aria-label="Verification">
        {findings && <Verdict findings={findings} />}
      </div>
    </>
  );
}

const words: Record<Part, string> = { code: 'Code', version: 'Digest', input: 'Input', output: 'Output' };

function Verdict({ findings }: { findings: Finding[] }) {
  const wrong = findings.filter((f) => f.state === 'differs');
  const unknown = findings.filter((f) => f.state === 'unknown');
  const said = wrong.length > 0 ? wrong : unknown;
  return (
    <div className={css.verdict} data-look={wrong.length > 0 ? 'err' : unknown.length > 0 ? 'warn' : 'ok'}>
      <strong>
        {wrong.length > 0
          ? 'Does not match what was recorded.'
          : unknown.length > 0
            ? 'What can be checked matches.'
            : 'Verified: all of it matches what was recorded.'}
      </strong>
      {said.length > 0 && (
        <ul>
          {said.map(({ part, why }) => (
            <li key={part}>
              {words[part]}: {why}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface FactProps {
  label: string;
  value: Json | undefined;
  plain?: boolean;
  finding?: Finding | undefined;
}

function Fact({ label, value, plain, finding }: FactProps) {
  if (typeof value !== 'string' || value === '') return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>
        {finding && <Mark finding={finding} />}
        {plain ? (
          value
        ) : (
          <>
            <code title={value}>{short(value)}</code>
            <CopyButton label={`Copy ${label.toLowerCase()}`} text={value} />
          </>
        )}
      </dd>
    </>
  );
}

const marks = {
  same: { icon: Check, name: 'Matches' },
  differs: { icon: X, name: 'Does not match' },
  unknown: { icon: Minus, name: 'Not checked' },
};

function Mark({ finding: { state, why } }: { finding: Finding }) {
  const { icon: Icon, name } = marks[state];
  return (
    <span role="img" aria-label={name} title={why} className={css.mark} data-state={state}>
      <Icon size={12} aria-hidden />
    </span>
  );
}

/** Enough of a hash to tell two apart; the whole is in the tooltip and in what Copy copies. */
function short(value: string): string {
  const hash = /^(sha256:)?([0-9a-f]{64})$/.exec(value)?.[2];
  return hash === undefined ? value : `${hash.slice(0, 12)}…`;
}
