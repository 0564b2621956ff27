// Fills a server with data, so that no screen is empty: agents, versions, runs, tests, a project with proposed changes,
// tasks, approvals, people, tokens, secrets and budgets.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Atelier } from './atelier';
import { must, program, publishedAgent, saveDraft } from './seed';

export type Filled = {
  /** The IDs of runs. */
  run: string;
  failedRun: string;
  /** The paths of pages whose URL contains an ID. */
  overlay: string;
  task: string;
  approval: string;
  invitation: string;
};

export async function fill(atelier: Atelier): Promise<Filled> {
  const runs = await fillAgents(atelier);
  const approval = await askForApproval(atelier);
  const changes = await fillProject(atelier);
  await must(atelier, 'PUT', '/secrets/API_KEY', { value: 'a value that is not shown' });
  await must(atelier, 'POST', '/tokens', { name: 'laptop', scopes: ['read', 'run'] });
  await must(atelier, 'POST', '/tokens', { name: 'ci', scopes: ['read'] });
  await must(atelier, 'PUT', '/budgets/runs', { meter: 'runs', amount: 40, refuse: 'none' });
  const { link } = (await must(atelier, 'POST', '/invitations', { role: 'developer', note: 'Ada' })) as {
    link: string;
  };
  return { ...runs, ...changes, approval, invitation: link.slice(link.indexOf('/studio/')) };
}

async function fillAgents(atelier: Atelier): Promise<{ run: string; failedRun: string }> {
  await publishedAgent(atelier, 'slugger');
  for (const [word, message] of [
    ['Fog', 'Says fog.'],
    ['Rain', 'Says rain.'],
  ] as const) {
    await saveDraft(atelier, 'slugger', {
      ...program(word),
      title: 'City weather',
      description: 'The weather of a city.',
    });
    await must(atelier, 'POST', '/code-agents/slugger/versions', { bump: 'auto', changelog: message });
  }
  await must(atelier, 'PATCH', '/code-agents/slugger/versions/1.0.0', { deprecated: true, reason: 'It says sun.' });
  await must(atelier, 'PUT', '/tool-sets/daily', { title: 'Daily report', references: ['slugger@1.0.0'] });
  await must(atelier, 'PUT', '/pins', { owner: 'flow/1', label: 'Morning report', references: ['slugger@1.0.0'] });
  let run = '';
  for (const city of ['Oslo', 'Bergen', 'Tromsø']) {
    for (const version of ['1.0.0', '1.0.1', 'draft'])
      run = await execute(atelier, 'slugger', { version, input: { city } });
  }
  await must(atelier, 'POST', '/code-agents/slugger/publish', { public: true });
  await saveDraft(atelier, 'slugger', {
    ...program('Snow'),
    tests: [
      { name: 'Oslo', input: { city: 'Oslo' }, expect: { output: { text: 'Snow in Oslo' } } },
      { name: 'No city', input: {}, expect: { errorType: 'invalid_input' } },
    ],
  });
  await must(atelier, 'POST', '/code-agents', {
    name: 'orders-report',
    title: 'Orders report',
    description: 'Totals of the orders of a day.',
    language: 'python',
    entrypoint: 'main.py',
    tags: ['finance'],
    files: { 'main.py': 'def main(input, ctx):\n    raise ValueError("no orders for " + input["day"])\n' },
    inputSchema: { type: 'object', properties: { day: { type: 'string', format: 'date' } }, required: ['day'] },
  });
  const failedRun = await execute(atelier, 'orders-report', { version: 'draft', input: { day: '2026-11-24' } });
  return { run, failedRun };
}

async function execute(atelier: Atelier, agent: string, body: object): Promise<string> {
  const { runId } = (await must(atelier, 'POST', `/code-agents/${agent}/execute`, body)) as { runId: string };
  return runId;
}

/** Publishes a version that needs an approval, because it connects to a new host. */
async function askForApproval(atelier: Atelier): Promise<string> {
  const before = await setGate(atelier, 'enforce');
  const name = 'exchange-rates';
  await must(atelier, 'POST', '/code-agents', {
    name,
    language: 'python',
    code: "def main(input, ctx):\n    return {'rate': 1}\n",
  });
  await must(atelier, 'POST', `/code-agents/${name}/versions`, {});
  await saveDraft(atelier, name, {
    code: "from urllib import request\n\ndef main(input, ctx):\n    return request.urlopen('https://api.example.com/rates').status\n",
    capabilities: { hosts: ['api.example.com:443'] },
    safetyFlags: ['network_access'],
  });
  await atelier.cli('publish', name, '--server', atelier.url, '--token', atelier.token);
  const { items } = (await must(atelier, 'GET', '/approvals?status=pending')) as { items: { id: string }[] };
  await setGate(atelier, before);
  return `/studio/approvals/${items[0]?.id ?? ''}`;
}

/** Sets the mode of the policy gate and returns the previous mode. */
async function setGate(atelier: Atelier, to: string): Promise<string> {
  const now = (await must(atelier, 'GET', '/gate')) as { gate: string };
  await must(atelier, 'PUT', '/gate', { ...now, gate: to });
  return now.gate;
}

/** Imports a project. An agent proposes changes to it in one run and in two tasks. */
async function fillProject(atelier: Atelier): Promise<{ overlay: string; task: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-project-'));
  await writeFile(join(folder, 'prices.txt'), 'apples 3\npears 4\n');
  await writeFile(join(folder, 'readme.md'), '# Shop\n');
  await atelier.cli('project', 'import', 'shop', folder, '--server', atelier.url);
  await rm(folder, { recursive: true });
  const code = `export default async (input, ctx) => {
  if (input.day === 'Sunday') throw new Error('The shop is closed.');
  await ctx.writeFile('prices.txt', 'apples 3\\npears 5\\n');
  await ctx.submitResult('Raise the price of pears', ['prices.txt']);
}`;
  const capabilities = { files: { project: 'shop', write: true } };
  await must(atelier, 'POST', '/code-agents', {
    name: 'pricer',
    language: 'javascript',
    code,
    capabilities,
    safetyFlags: ['file_system'],
  });
  await must(atelier, 'POST', '/code-agents/pricer/versions', {});
  await execute(atelier, 'pricer', { version: '1.0.0', input: {} });
  const task = { agent: 'pricer', project: 'shop' };
  await must(atelier, 'POST', '/tasks', { ...task, title: 'Open on Sunday', input: { day: 'Sunday' } });
  const { id } = (await must(atelier, 'POST', '/tasks', { ...task, title: 'Check the prices' })) as { id: string };
  const { items } = (await must(atelier, 'GET', '/projects/shop/overlays')) as { items: { id: string }[] };
  return { overlay: `/studio/projects/shop/overlays/${items[0]?.id ?? ''}`, task: `/studio/tasks/${id}` };
}
