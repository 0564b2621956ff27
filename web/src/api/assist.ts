// Calls of the language model. They are in a module of their own, so that the first screen does not load them.
import { request } from './http';
import type { Json } from './json';
import { propose, type Watch } from './proposals';
import type { ChangeTask, Language, Opinion, Proposal, ProposedAgent, Suggestion } from './types';

/** A change of the draft that a language model proposes, with which a failed run succeeds. */
export const proposeFix = (runId: string, watch: Watch, signal: AbortSignal): Promise<Proposal> =>
  propose('/assist/fix', { runId }, watch, signal);

/** A change of the draft that a language model proposes. Only the task "change" has a description. */
export const proposeChange = (
  body: { agent: string; task: ChangeTask; description?: string },
  watch: Watch,
  signal: AbortSignal,
): Promise<Proposal> => propose('/assist/change', body, watch, signal);

export interface Wish {
  description: string;
  language: Language;
  inputExample?: Json;
}
/** A new agent that a language model proposes. */
export const proposeAgent = (wish: Wish, watch: Watch, signal: AbortSignal): Promise<ProposedAgent> =>
  propose('/assist/generate', wish, watch, signal);

/** The place in a file of a draft at which a person types. */
export interface Spot {
  agent: string;
  file: string;
  before: string;
  after: string;
}
/** The text that a language model suggests for this place; empty if it suggests none. */
export const completeCode = async (spot: Spot, signal: AbortSignal): Promise<string> =>
  (await request<Suggestion>('/assist/complete', { method: 'POST', body: spot, signal })).text;

/** A language model's explanation or review of the draft. */
export const askOpinion = (about: 'explain' | 'review', agent: string, signal: AbortSignal): Promise<Opinion> =>
  request(`/assist/${about}`, { method: 'POST', body: { agent }, signal });
