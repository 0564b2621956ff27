// Answers to the requests of public/ask.js, which start before the page's code is loaded. Each answer is used once.

interface Asked {
  workspace: string;
  /** The agent in the address. */
  agent: string | undefined;
  /** Response texts by path, or promises of them. Undefined means a failed response. */
  answers: Partial<Record<string, string | Promise<string | undefined>>>;
}
declare global {
  interface Window {
    asked?: Asked;
  }
}

// The same time for which other answers count as fresh.
const freshFor = 10_000;

function fresh(workspace: string): Asked | undefined {
  if (typeof window === 'undefined') return undefined;
  if (window.asked?.workspace !== workspace || performance.now() > freshFor) forgetEarly();
  return window.asked;
}

/** A write makes earlier answers stale. If ask.js runs after this code, nothing is left to request. */
export function forgetEarly(): void {
  if (typeof window !== 'undefined') window.asked = { workspace: '', agent: undefined, answers: {} };
}

/** Returns the early answer to this request, if there is one. */
export function takeEarly(path: string, workspace: string): string | Promise<string | undefined> | undefined {
  const asked = fresh(workspace);
  const answer = asked?.answers[path];
  delete asked?.answers[path];
  return answer;
}

/** Returns the agent in the address if it and the session have arrived. */
export function agentHere(workspace: string): string | undefined {
  const { agent, answers = {} } = fresh(workspace) ?? {};
  const here = ['/session', `/code-agents/${agent ?? ''}`].every((path) => typeof answers[path] === 'string');
  return here ? agent : undefined;
}
