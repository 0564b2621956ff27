// Provides the answers to the requests of public/ask.js, which start before the page's code is loaded. Each answer is
// used once.

interface Asked {
  workspace: string;
  /** The name of the agent in the URL. */
  agent: string | undefined;
  /** Response texts, or promises of them, by path. Undefined means that the request failed. */
  answers: Partial<Record<string, string | Promise<string | undefined>>>;
}
declare global {
  interface Window {
    asked?: Asked;
  }
}

// The time in milliseconds for which an answer counts as fresh. It is the same as for other answers.
const freshFor = 10_000;

function fresh(workspace: string): Asked | undefined {
  if (typeof window === 'undefined') return undefined;
  if (window.asked?.workspace !== workspace || performance.now() > freshFor) forgetEarly();
  return window.asked;
}

/** A write makes earlier answers outdated. If ask.js runs after this code, it has no requests left to make. */
export function forgetEarly(): void {
  if (typeof window !== 'undefined') window.asked = { workspace: '', agent: undefined, answers: {} };
}

/** Returns the early answer to a request, or undefined if there is none. */
export function takeEarly(path: string, workspace: string): string | Promise<string | undefined> | undefined {
  const asked = fresh(workspace);
  const answer = asked?.answers[path];
  delete asked?.answers[path];
  return answer;
}

/** Returns the agent in the URL, if the answers about the agent and the session have arrived. */
export function agentHere(workspace: string): string | undefined {
  const { agent, answers = {} } = fresh(workspace) ?? {};
  const here = ['/session', `/code-agents/${agent ?? ''}`].every((path) => typeof answers[path] === 'string');
  return here ? agent : undefined;
}
