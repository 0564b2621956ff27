// Controls the run that is on the screen, which is starting, queued, running or done. It writes the run's output to the
// ring buffer.
import { ApiError, explain, isMissing } from '../../api/http';
import { followRun, type StreamState } from '../../api/stream';
import type { FieldProblem, RunAnswer, RunEvent, RunStatus } from '../../api/types';
import { cancelRun, getRun } from '../../api/verbs';
import { Ring } from '../../console/ring';
import { controller as say } from '../../texts/run';

export type RunState =
  | { kind: 'idle' }
  | { kind: 'starting' }
  /** The run was refused. If secrets are missing or a budget is used up, the state contains their names. */
  | { kind: 'refused'; message: string; fields: FieldProblem[]; secrets: string[]; budget: UsedBudget | undefined }
  | { kind: 'queued'; runId: string; position: number | undefined }
  | { kind: 'running'; runId: string; since: number }
  | { kind: 'done'; runId: string; answer: RunAnswer };

export interface Progress {
  done: number;
  total: number;
  message?: string;
}

export interface RunView {
  run: RunState;
  stream: StreamState | undefined;
  progress: Progress | undefined;
  stopping: boolean;
}

/** Returns the secrets that are missing, according to the server's error. */
function secretsOf(error: unknown): string[] {
  const names = error instanceof ApiError ? error.problem['secrets'] : undefined;
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

/** The budget because of which a run was refused. */
export interface UsedBudget {
  name: string;
  meter: string;
  amount: number;
  used: number;
  /** The currency, if the budget limits costs. */
  unit: string;
  until: string;
}

/** Returns the budget that is used up, according to the server's error. */
function budgetOf(error: unknown): UsedBudget | undefined {
  if (!(error instanceof ApiError) || error.code !== 'budget_exceeded') return undefined;
  const { budget, meter, amount, used, unit, until } = error.problem;
  if (typeof budget !== 'string' || typeof meter !== 'string' || typeof unit !== 'string' || typeof until !== 'string')
    return undefined;
  return { name: budget, meter, amount: Number(amount), used: Number(used), unit, until };
}

/**
 * Whether a run belongs to an agent. The result is also true if the server does not answer, because the stream waits
 * for the server.
 */
async function isRunOf(runId: string, agentId: string): Promise<boolean> {
  try {
    const { metadata } = await getRun(runId);
    return metadata.agentId === agentId;
  } catch (error) {
    return !(error instanceof Error && (isMissing(error) || (error instanceof ApiError && error.status === 422)));
  }
}

const idle: RunView = { run: { kind: 'idle' }, stream: undefined, progress: undefined, stopping: false };

export class RunController {
  readonly ring = new Ring();
  private view = idle;
  private readonly listeners = new Set<() => void>();
  private unfollow = (): void => undefined;
  private turn = 0;

  get = (): RunView => this.view;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /**
   * Starts a run with `begin` and clears the previous run. Resolves to the ID of the run. Resolves to undefined if the
   * run was refused or is no longer on the screen.
   */
  async start(begin: () => Promise<{ runId: string }>): Promise<string | undefined> {
    const turn = this.reset();
    this.update({ run: { kind: 'starting' } });
    try {
      const { runId } = await begin();
      if (turn !== this.turn) return undefined;
      this.follow(runId);
      return runId;
    } catch (error) {
      if (turn === this.turn) this.refuse(error);
      return undefined;
    }
  }

  /**
   * Shows an earlier run from its first event. If the run does not exist or belongs to another agent, it returns false
   * and shows nothing.
   */
  async attach(runId: string, agentId?: string): Promise<boolean> {
    const turn = this.reset();
    this.update({ run: { kind: 'queued', runId, position: undefined } });
    const found = agentId === undefined || (await isRunOf(runId, agentId));
    if (turn !== this.turn) return true; // another run is on the screen now
    if (found) this.follow(runId);
    else this.update({ run: { kind: 'idle' } });
    return found;
  }

  private refuse(error: unknown): void {
    const fields = error instanceof ApiError ? error.fields : [];
    const reason = explain(error);
    const retryAfter = error instanceof ApiError ? error.retryAfter : undefined;
    const message = retryAfter === undefined ? reason : say.tryAgainIn(reason, retryAfter);
    this.update({ run: { kind: 'refused', message, fields, secrets: secretsOf(error), budget: budgetOf(error) } });
  }

  async stop(): Promise<void> {
    const { run } = this.view;
    if (run.kind !== 'queued' && run.kind !== 'running') return;
    this.update({ stopping: true });
    try {
      await cancelRun(run.runId);
    } catch (error) {
      this.ring.system(say.notStopped(explain(error)));
      this.update({ stopping: false });
    }
  }

  /** Stops following the run. The run itself continues. */
  detach(): void {
    this.turn++;
    this.unfollow();
  }

  private reset(): number {
    this.unfollow();
    this.ring.clear();
    this.view = idle;
    return ++this.turn;
  }

  private follow(runId: string): void {
    this.update({ run: { kind: 'queued', runId, position: undefined } });
    this.unfollow = followRun(runId, {
      events: (batch) => this.accept(runId, batch),
      state: (stream) => this.update({ stream }),
    });
  }

  private accept(runId: string, batch: RunEvent[]): void {
    this.ring.append(batch);
    const change: Partial<RunView> = {};
    for (const event of batch) {
      if (event.kind === 'status') change.run = this.status(runId, event.data.status, event.data.position, event.at);
      if (event.kind === 'progress') change.progress = event.data;
      if (event.kind === 'result') {
        change.run = { kind: 'done', runId, answer: event.data };
        change.progress = undefined;
        change.stopping = false;
      }
    }
    // Output changes only the ring buffer, which notifies its listeners separately.
    if (Object.keys(change).length > 0) this.update(change);
  }

  private status(runId: string, status: RunStatus, position: number | undefined, at: string): RunState {
    if (status === 'running') return { kind: 'running', runId, since: Date.parse(at) || Date.now() };
    if (status === 'queued' || status === 'awaiting_approval') return { kind: 'queued', runId, position };
    return this.view.run;
  }

  private update(change: Partial<RunView>): void {
    this.view = { ...this.view, ...change };
    for (const listener of [...this.listeners]) listener();
  }
}
