// What public/ask.js asked before the page's code was here: each answer is taken once, by the first who asks the same.

interface Asked {
  workspace: string;
  /** The agent that the address names. */
  agent: string | undefined;
  /** Texts by path, those that are on their way as promises; undefined is no good answer. */
  answers: Partial<Record<string, string | Promise<string | undefined>>>;
}
declare global {
  interface Window {
    asked?: Asked;
  }
}

// As long as an answer is fresh elsewhere.
const freshFor = 10_000;

function fresh(workspace: string): Asked | undefined {
  if (typeof window === 'undefined') return undefined;
  if (window.asked?.workspace !== workspace || performance.now() > freshFor) forgetEarly();
  return window.asked;
}

/** What is written makes old what was read before. A script that comes later than this code finds that nothing is left to ask. */
export function forgetEarly(): void {
  if (typeof window !== 'undefined') window.asked = { workspace: '', agent: undefined, answers: {} };
}

/** The answer to this question, when it is here or soon will be. */
export function takeEarly(path: string, workspace: string): string | Promise<string | undefined> | undefined {
  const asked = fresh(workspace);
  const answer = asked?.answers[path];
  delete asked?.answers[path];
  return answer;
}

/** The agent that the address names, when it and the session are here. */
export function agentHere(workspace: string): string | undefined {
  const { agent, answers = {} } = fresh(workspace) ?? {};
  const here = ['/session', `/code-agents/${agent ?? ''}`].every((path) => typeof answers[path] === 'string');
  return here ? agent : undefined;
}
