// Checks the digests that a run has recorded against the server's data. The page computes the digests of program,
// version, input and output again.
import { ApiError } from '../api/http';
import { keepsDigits, stringifyJson, type Json } from '../api/json';
import type { Draft, RunAnswer, Version } from '../api/types';
import { getAgent, getRun, getVersion } from '../api/verbs';
import { verify as say } from '../texts/provenance';
import { codeDigestOf, contentDigestOf, digestOf, versionDigestOf } from './digest';

export type Part = 'code' | 'version' | 'input' | 'output';

/** The result of checking one part. Only `differs` means that something is wrong. */
export interface Finding {
  part: Part;
  state: 'same' | 'differs' | 'unknown';
  why: string;
}

const masked = '***';
// Whether the value contains a number with more digits than a double can represent.
const longNumber = /\d{16}/;

export async function verifyRun({ runId, provenance, metadata }: RunAnswer): Promise<Finding[]> {
  const { version = '', digest, codeDigest, inputsHash, outputsHash } = provenance;
  const run = await getRun(runId);
  const findings: Finding[] = [];
  const program = await programOf(metadata.agentId, digest ?? version);
  if (typeof program === 'string') findings.push({ part: 'code', state: 'unknown', why: program });
  else {
    const computed = codeDigestOf(program.files, program.entrypoint);
    const code = compared('code', codeDigest, computed);
    const draft = !published(program) && code.state === 'differs';
    findings.push(draft ? { ...code, state: 'unknown', why: say.draftHasChanged } : code);
    if (digest !== undefined && published(program)) findings.push(versionCompared(digest, program, computed));
  }
  // The server redacts only the secrets that a version declares. Which secrets a past draft declared is not known.
  const masks = typeof program === 'string' || !published(program) || program.secrets.length > 0;
  if (run.withheld === true) {
    findings.push({ part: 'input', state: 'unknown', why: say.isWithheld });
    if (outputsHash !== undefined) findings.push({ part: 'output', state: 'unknown', why: say.isWithheld });
    return findings;
  }
  findings.push(valueCompared('input', inputsHash, run.input, masks));
  if (outputsHash !== undefined) findings.push(valueCompared('output', outputsHash, run.output, masks));
  return findings;
}

type Program = Draft | Version;

const published = (program: Program): program is Version => 'digest' in program;

/** The program as the server stores it now, or the reason why it is not available. */
async function programOf(agent: string | undefined, version: string): Promise<Program | string> {
  if (agent === undefined) return say.inlineIsNotKept;
  try {
    return version === 'draft' ? (await getAgent(agent)).draft : await getVersion(agent, version);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return say.isGone;
    throw error;
  }
}

/**
 * The stored digest of the version is not trusted. The page computes it again from program, settings, name and number.
 */
function versionCompared(recorded: string, version: Version, code: string): Finding {
  const finding = compared('version', recorded, versionDigestOf(version, contentDigestOf(version, code)));
  if (finding.state === 'same' || keepsDigits) return finding;
  const schemas = stringifyJson([version.inputSchema, version.outputSchema]);
  return longNumber.test(schemas) ? { part: 'version', state: 'unknown', why: say.digitsAreLost } : finding;
}

function valueCompared(part: Part, recorded: string, value: Json, masks: boolean): Finding {
  const finding = compared(part, recorded, digestOf(value));
  if (finding.state === 'same') return finding;
  const text = stringifyJson(value);
  if (masks && text.includes(masked)) return { part, state: 'unknown', why: say.mayBeSecret(masked) };
  if (!keepsDigits && longNumber.test(text)) return { part, state: 'unknown', why: say.digitsAreLost };
  return finding;
}

const compared = (part: Part, recorded: string, computed: string): Finding =>
  recorded === computed
    ? { part, state: 'same', why: say.same }
    : { part, state: 'differs', why: say.differs(computed) };
