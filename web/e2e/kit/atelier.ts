// Starts the real binary with a separate data directory, and runs other commands of the binary.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { waitTimeout } from './waitTimeout';

export const repository = resolve(import.meta.dirname, '../../..');
const binary = process.env['ATELIER_TEST_BINARY'] ?? join(repository, 'bin/atelier');

export type Atelier = {
  /** The origin of the server, for example http://127.0.0.1:40123. */
  url: string;
  /** The one-time sign-in link that the server printed. */
  signInLink: string;
  token: string;
  data: string;
  /** A free port of this machine. The server allows programs to connect to it. */
  grantable: number;
  /** Calls the API with the administrator's token. */
  api: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  /** Runs another command of the binary against this server's data. */
  cli: (...args: string[]) => Promise<Ended>;
  /** Kills the server. Its data directory stays. */
  kill: () => Promise<void>;
  /** Starts the server again at the same address. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
};

export type Answer = { status: number; headers: Headers; body: unknown };
export type Ended = { code: number; stdout: string; stderr: string };

/** Starts a server with additional flags. */
export async function startAtelier(...flags: string[]): Promise<Atelier> {
  const data = await mkdtemp(join(tmpdir(), 'atelier-e2e-'));
  const token = `e2e-${crypto.randomUUID()}`;
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: data,
    ATELIER_DATA: data,
    ATELIER_TOKEN: token,
    ATELIER_SKILLS_BUILTIN: 'false', // installs no skills, so that the Studio is empty when a test starts
  };
  const grantable = await freePort();
  if (!flags.includes('--egress-hosts')) flags.push('--egress-hosts', `*,127.0.0.1:${String(grantable)}`);
  const start = async (listen: string): Promise<[ChildProcess, string]> => {
    const started = spawn(binary, ['serve', '--listen', listen, ...flags], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const link = await firstLink(started).catch(async (fault: unknown) => {
      await end(started);
      throw fault;
    });
    return [started, link];
  };
  const [first, signInLink] = await start('127.0.0.1:0');
  let server = first;
  const url = new URL(signInLink).origin;

  return {
    url,
    signInLink,
    token,
    data,
    grantable,
    api: async (method, path, body, headers = {}) => {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
      };
    },
    kill: () => end(server, 'SIGKILL'),
    restart: async () => {
      [server] = await start(new URL(url).host);
    },
    cli: (...args) => run(binary, args, environment),
    stop: async () => {
      await end(server);
      await rm(data, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((done) => server.close(() => done()));
  return port;
}

/** Starts a server, calls a function with it, and then stops the server. */
export async function withAtelier(work: (atelier: Atelier) => Promise<void>): Promise<void> {
  const atelier = await startAtelier();
  try {
    await work(atelier);
  } finally {
    await atelier.stop();
  }
}

/** Runs a program until it ends, and returns its output. */
export function run(program: string, args: string[], environment: Record<string, string>): Promise<Ended> {
  return runIn(repository, program, args, environment);
}

/** Runs a program in a folder until it ends, and returns its output. */
export function runIn(cwd: string, program: string, args: string[], env: Record<string, string>): Promise<Ended> {
  return new Promise((done, failed) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', failed);
    child.on('close', (code) => done({ code: code ?? -1, stdout, stderr }));
  });
}

function firstLink(server: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let text = '';
    const timer = setTimeout(() => failed(new Error(`no sign-in link in time, but:\n${text}`)), waitTimeout);
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      const link = /http:\/\/127\.0\.0\.1:\d+[\w/-]*\/login\?link=[\w.~-]+/.exec(text);
      if (!link) return;
      clearTimeout(timer);
      found(link[0]);
    };
    server.stdout?.on('data', read);
    server.stderr?.on('data', read);
    server.on('error', failed);
    server.on('exit', (code) => failed(new Error(`the server ended with ${String(code)}:\n${text}`)));
  });
}

function end(server: ChildProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve();
  return new Promise((done) => {
    const hard = setTimeout(() => server.kill('SIGKILL'), 10_000);
    server.on('exit', () => {
      clearTimeout(hard);
      done();
    });
    server.kill(signal);
  });
}
