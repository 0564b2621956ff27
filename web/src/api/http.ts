// Makes all HTTP requests of the Studio. A response other than 2xx becomes an ApiError, and a failed connection becomes
// an OfflineError.
import { http as say } from '../texts/api';
import { basePath } from './base';
import { forgetEarly, takeEarly } from './early';
import { isObject, parseJson, stringifyJson, type Json, type JsonObject } from './json';
import { report } from './reach';
import type { FieldProblem } from './types';
import { chooseWorkspace, chosenWorkspace } from './workspace';

export const apiBase = `${basePath}/api/v1`;

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: FieldProblem[],
    readonly problem: JsonObject,
    readonly retryAfter: number | undefined,
  ) {
    super(message);
  }
}

export class OfflineError extends Error {
  constructor() {
    super(say.theServerCannotBeReached);
  }
}

/** Notifies listeners that the session has ended. */
export const sessionEnded = new EventTarget();

/** Notifies listeners that the selected workspace no longer exists or is no longer accessible. */
export const workspaceLost = new EventTarget();

export interface Request {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** The path prefix, for requests that are not below the API's prefix. */
  root?: string;
}

export async function request<T>(path: string, options: Request = {}): Promise<T> {
  const early = options.method === undefined ? await takeEarly(path, chosenWorkspace()) : undefined;
  if (early !== undefined) return parseJson(early) as T;
  return (await requestWithHeaders(path, options)).body as T;
}

export async function requestWithHeaders(
  path: string,
  { method = 'GET', body, headers = {}, signal, root = apiBase }: Request = {},
): Promise<{ body: Json; headers: Headers }> {
  if (method !== 'GET') forgetEarly();
  const sent: Record<string, string> = { Accept: 'application/json', ...workspaceHeader(), ...headers };
  // The browser may cache a version for a year, but another person may deprecate the version. So the browser must
  // always revalidate.
  const init: RequestInit = { method, headers: sent, credentials: 'same-origin', cache: 'no-cache' };
  if (body !== undefined) {
    init.body = stringifyJson(body);
    sent['Content-Type'] = 'application/json';
  }
  if (signal) init.signal = signal;
  const response = await send(root + path, init);
  const text = await response.text();
  if (response.status === 401 && path === '/session') throw refusal(401, text, null);
  return { body: answerOf(response.status, text, response.headers.get('Retry-After')), headers: response.headers };
}

/** Sends a request whose answer is a stream of server-sent events. It reports refusals in the same way as `request`. */
export async function requestStream(
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  forgetEarly();
  const headers = { Accept: 'text/event-stream', 'Content-Type': 'application/json', ...workspaceHeader() };
  const init: RequestInit = { method: 'POST', headers, credentials: 'same-origin', body: stringifyJson(body), signal };
  const response = await send(apiBase + path, init);
  if (!response.ok) answerOf(response.status, await response.text(), response.headers.get('Retry-After'));
  if (!response.body) throw new OfflineError();
  return response.body;
}

/** Parses a response of fetch or of another method. */
export function answerOf(status: number, text: string, retryAfter: string | null): Json {
  if (status === 401) sessionEnded.dispatchEvent(new Event('ended'));
  if (status < 200 || status > 299) {
    const refused = refusal(status, text, retryAfter);
    if (refused.code === 'no_workspace' && chosenWorkspace() !== '') leaveWorkspace();
    throw refused;
  }
  return text === '' ? null : parseJson(text);
}

/** Returns the workspace header, if the user can choose between workspaces. */
export const workspaceHeader = (): Record<string, string> =>
  chosenWorkspace() === '' ? {} : { 'X-Workspace': chosenWorkspace() };

function leaveWorkspace(): void {
  chooseWorkspace('');
  workspaceLost.dispatchEvent(new Event('lost'));
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    report(true);
    return response;
  } catch (cause) {
    if (init.signal?.aborted === true) throw cause;
    report(false);
    throw new OfflineError();
  }
}

function refusal(status: number, text: string, retryAfter: string | null): ApiError {
  const problem = parseProblem(text);
  const message = asString(problem['detail']) ?? asString(problem['title']) ?? say.theServerAnswered(status);
  const code = asString(problem['code']) ?? 'internal';
  const retry = Number(retryAfter);
  return new ApiError(status, code, message, fieldsOf(problem), problem, retry > 0 ? retry : undefined);
}

function parseProblem(text: string): JsonObject {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function fieldsOf(problem: JsonObject): FieldProblem[] {
  const errors = problem['errors'];
  if (!Array.isArray(errors)) return [];
  return errors.filter(isObject).map((e) => {
    const [file, line] = [asString(e['file']), e['line']];
    return {
      pointer: asString(e['pointer']) ?? '',
      message: asString(e['message']) ?? say.notValid,
      ...(file !== undefined && { file }),
      ...(typeof line === 'number' && { line }),
    };
  });
}

function asString(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Whether the error means that the resource does not exist, or that this user may not see it. */
export const isMissing = (error: Error): boolean => error instanceof ApiError && error.status === 404;

/** Returns an error message for people, for any failed call. */
export function explain(error: unknown): string {
  return error instanceof Error ? error.message : say.somethingWentWrong;
}
