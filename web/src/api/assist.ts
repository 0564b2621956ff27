// Calls the language model. This code is in a separate module, so that the first screen does not load it.
import { request } from './http';
import type { Json } from './json';
import { propose, type Watch } from './proposals';
import type { ChangeTask, Language, Opinion, Proposal, ProposedAgent, Suggestion } from './types';

/** Asks for a change of the draft that makes a failed run succeed. */
export const proposeFix = (runId: string, watch: Watch, signal: AbortSignal): Promise<Proposal> =>
  propose('/assist/fix', { runId }, watch, signal);

/** Asks for a change of the draft. Only the task "change" has a description. */
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
/** Asks for a new agent. */
export const proposeAgent = (wish: Wish, watch: Watch, signal: AbortSignal): Promise<ProposedAgent> =>
  propose('/assist/generate', wish, watch, signal);

/** The position in a file of a draft at which the user types. */
export interface Spot {
  agent: string;
  file: string;
  before: string;
  after: string;
}
/** Asks for the text to insert at this position. The text is empty if the model suggests nothing. */
export const completeCode = async (spot: Spot, signal: AbortSignal): Promise<string> =>
  (await request<Suggestion>('/assist/complete', { method: 'POST', body: spot, signal })).text;

/** Asks for an explanation or a review of the draft. */
export const askOpinion = (about: 'explain' | 'review', agent: string, signal: AbortSignal): Promise<Opinion> =>
  request(`/assist/${about}`, { method: 'POST', body: { agent }, signal });
