// Checks what a run recorded of itself against what the server has: the program, the input and the output are digested
// again, here in the page.
import { ApiError } from '../api/http';
import { keepsDigits, stringifyJson, type Json } from '../api/json';
import type { Files, RunAnswer } from '../api/types';
import { getAgent, getRun, getVersion } from '../api/verbs';
import { verify as say } from '../texts/provenance';
import { codeDigestOf, digestOf } from './digest';

export type Part = 'code' | 'version' | 'input' | 'output';

/** What became of checking one part; only `differs` says that something is wrong. */
export interface Finding {
  part: Part;
  state: 'same' | 'differs' | 'unknown';
  why: string;
}

const masked = '***';

export async function verifyRun({ runId, provenance, metadata }: RunAnswer): Promise<Finding[]> {
  const { version = '', digest, codeDigest, inputsHash, outputsHash } = provenance;
  const run = await getRun(runId);
  const findings: Finding[] = [];
  const program = await programOf(metadata.agentId, digest ?? version);
  if (typeof program === 'string') findings.push({ part: 'code', state: 'unknown', why: program });
  else {
    const code = compared('code', codeDigest, codeDigestOf(program.files, program.entrypoint));
    const draft = program.digest === undefined && code.state === 'differs';
    findings.push(draft ? { ...code, state: 'unknown', why: say.draftHasChanged } : code);
    if (digest !== undefined && program.digest !== undefined)
      findings.push({
        ...compared('version', digest, program.digest),
        why: say.versionIsThere,
      });
  }
  // Of what is kept only the secrets that a version declares are masked; of a draft nobody knows any more what it declared.
  const masks = typeof program === 'string' || program.digest === undefined || program.secrets.length > 0;
  findings.push(valueCompared('input', inputsHash, run.input, masks));
  if (outputsHash !== undefined) findings.push(valueCompared('output', outputsHash, run.output, masks));
  return findings;
}

interface Program {
  files: Files;
  entrypoint: string;
  secrets: string[];
  /** Absent of a draft. */
  digest?: string;
}

/** What ran, as the server has it now, or why it cannot be had. */
async function programOf(agent: string | undefined, version: string): Promise<Program | string> {
  if (agent === undefined) return say.inlineIsNotKept;
  try {
    return version === 'draft' ? (await getAgent(agent)).draft : await getVersion(agent, version);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return say.isGone;
    throw error;
  }
}

function valueCompared(part: Part, recorded: string, value: Json, masks: boolean): Finding {
  const finding = compared(part, recorded, digestOf(value));
  if (finding.state === 'same') return finding;
  const text = stringifyJson(value);
  if (masks && text.includes(masked)) return { part, state: 'unknown', why: say.mayBeSecret(masked) };
  if (!keepsDigits && /\d{16}/.test(text)) return { part, state: 'unknown', why: say.digitsAreLost };
  return finding;
}

const compared = (part: Part, recorded: string, computed: string): Finding =>
  recorded === computed
    ? { part, state: 'same', why: say.same }
    : { part, state: 'differs', why: say.differs(computed) };
