// Starts and stops the Python language service. The service is large, so it is downloaded with the first open Python
// file. It uses much memory, so it stops after some time without an open Python file.
import type { PythonProject, PythonService } from './python/service';

export type PythonState = 'off' | 'starting' | 'ready' | 'failed';

export interface PythonView {
  state: PythonState;
  /** Starts the service again after a failure. */
  retry: () => void;
}

const idleFor = 10 * 60_000;
const attempts = 2;

export class Python {
  private project: PythonProject;
  private service: PythonService | undefined;
  private state: PythonState = 'off';
  private allowed = true;
  private wanted = false;
  private failures = 0;
  private starts = 0;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private disposed = false;

  constructor(
    root: string,
    private readonly tell: (state: PythonState) => void,
  ) {
    this.project = { root, types: '', agents: '', parameters: [], entrypoint: '', packages: {}, version: undefined };
  }

  /** Tells the service whether a Python file is open. */
  look(python: boolean): void {
    clearTimeout(this.idle);
    if (python) {
      this.wanted = true;
      this.retry();
    } else if (this.wanted) {
      this.idle = setTimeout(() => {
        this.wanted = false;
        this.settle();
      }, idleFor);
    }
  }

  /** Try again after a failure, because the server may not have answered. */
  retry(): void {
    if (this.state === 'failed') this.state = 'off';
    this.settle();
  }

  allow(allowed: boolean): void {
    this.allowed = allowed;
    this.settle();
  }

  /** Sets the types and the packages. A running service restarts if the packages change. */
  update(change: Omit<PythonProject, 'root' | 'version'>): void {
    const { packages } = this.project;
    this.project = { ...this.project, ...change };
    if (packages !== change.packages && Object.keys({ ...packages, ...change.packages }).length > 0) this.restart();
    else this.service?.update(this.project);
  }

  /** Sets the Python version of the programs. A running service restarts if the version changes. */
  runsIn(version: string | undefined): void {
    if (this.project.version === version) return;
    this.project = { ...this.project, version };
    this.restart();
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.idle);
    this.stop();
  }

  private restart(): void {
    if (this.state === 'off' || this.state === 'failed') return;
    this.stop();
    this.settle();
  }

  private settle(): void {
    const on = this.wanted && this.allowed && !this.disposed;
    if (on && this.state === 'off') void this.start();
    else if (!on && this.state === 'ready') this.stop();
  }

  private async start(): Promise<void> {
    this.become('starting');
    const turn = ++this.starts;
    try {
      const { openPython } = await import('./python/open');
      const service = await openPython(this.project, () => this.broke(turn));
      if (turn !== this.starts) return service.dispose();
      this.service = service;
      // The types and the entry file may have changed while the service started.
      service.update(this.project);
      this.become('ready');
      this.settle();
    } catch {
      this.broke(turn);
    }
  }

  /** If a worker fails to start or crashes, the service restarts once. */
  private broke(turn: number): void {
    if (turn !== this.starts) return;
    this.failures++;
    this.stop();
    if (this.failures < attempts) this.settle();
    else {
      this.failures = 0;
      this.become('failed');
    }
  }

  private stop(): void {
    this.starts++;
    this.service?.dispose();
    this.service = undefined;
    this.become('off');
  }

  private become(state: PythonState): void {
    this.state = state;
    if (!this.disposed) this.tell(state);
  }
}
