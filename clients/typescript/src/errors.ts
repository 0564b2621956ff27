import type { Accepted, Detail, RunAnswer } from './types.js';

/** The server refused a request. `code` is a stable error code. `errors` lists the wrong fields by JSON pointer. */
export class AtelierError extends Error {
  override readonly name = 'AtelierError';
  readonly status: number;
  readonly code: string;
  readonly errors: Detail[];
  /** The whole problem document. It may have additional members, such as currentRevision. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Readonly<Record<string, unknown>>) {
    super(text(problem['detail']) ?? text(problem['title']) ?? `The server answered with status ${String(status)}.`);
    this.status = status;
    this.code = text(problem['code']) ?? '';
    this.errors = Array.isArray(problem['errors']) ? (problem['errors'] as Detail[]) : [];
    this.problem = problem;
  }
}

/** The program did not succeed. `run` is the record of the run, with error and logs. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed';
  /** The type of the error, such as runtime_error, timeout or cancelled. */
  readonly type: string;
  readonly run: RunAnswer;

  constructor(run: RunAnswer) {
    const type = run.error?.type ?? run.status;
    super(run.error === undefined ? type : `${type}: ${run.error.message}`);
    this.type = type;
    this.run = run;
  }
}

/** A person must approve the run first. The run starts after the approval. Read its events with `events(runId)`. */
export class ApprovalNeeded extends Error {
  override readonly name = 'ApprovalNeeded';
  readonly runId: string;
  readonly approvalId: string;
  readonly reasons: string[];

  constructor(accepted: Accepted) {
    super(`A person must approve the run: ${(accepted.reasons ?? []).join(' ')}`);
    this.runId = accepted.runId;
    this.approvalId = accepted.approvalId ?? '';
    this.reasons = accepted.reasons ?? [];
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
