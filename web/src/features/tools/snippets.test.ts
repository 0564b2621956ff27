import { describe, expect, it } from 'vitest';
import { isObject, parseJson, type Json } from '../../api/json';
import { addressOf, clients, labelOf, snippetOf, type Offer } from './snippets';

const origin = 'https://studio.example.com/base';
const all: Offer = { origin, kind: 'all', name: '', codeMode: false };
const agent: Offer = { origin, kind: 'agent', name: 'weather@1.2.0', codeMode: false };
const set: Offer = { origin, kind: 'set', name: 'daily', codeMode: true };

/** Returns the entry of the only server. */
function entryOf(text: string, key: string): { name: string; entry: Json } {
  const config = parseJson(text);
  const servers = isObject(config) ? config[key] : undefined;
  const [first, ...more] = Object.entries(isObject(servers) ? servers : {});
  expect(more).toEqual([]);
  return { name: first?.[0] ?? '', entry: first?.[1] ?? null };
}

describe('the configuration of a client', () => {
  it('opens the address of the offer', () => {
    expect([all, agent, set].map(addressOf)).toEqual([
      `${origin}/mcp`,
      `${origin}/mcp/weather@1.2.0`,
      `${origin}/mcp/sets/daily?mode=code`,
    ]);
    expect([all, agent, set].map(labelOf)).toEqual(['atelier', 'weather', 'daily']);
    for (const client of clients.filter((one) => one !== 'claude-desktop'))
      expect(snippetOf(client, set, undefined).text, client).toContain(addressOf(set));
  });

  it('has the form that each editor documents', () => {
    const url = addressOf(agent);
    expect(entryOf(snippetOf('cursor', agent, 'atl_s').text, 'mcpServers')).toEqual({
      name: 'weather',
      entry: { url, headers: { Authorization: 'Bearer ${env:ATELIER_TOKEN}' } },
    });
    expect(entryOf(snippetOf('windsurf', agent, undefined).text, 'mcpServers')).toEqual({
      name: 'weather',
      entry: { serverUrl: url, headers: { Authorization: 'Bearer ${env:ATELIER_TOKEN}' } },
    });
    const code = snippetOf('vscode', agent, 's').text;
    expect(entryOf(code, 'servers').entry).toEqual({
      type: 'http',
      url,
      headers: { Authorization: 'Bearer ${input:atelier-token}' },
    });
    expect(code).not.toContain('Bearer s"');
    expect(entryOf(snippetOf('claude-desktop', set, 's').text, 'mcpServers').entry).toEqual({
      command: 'atelier',
      args: ['mcp', '--set', 'daily', '--code-mode', '--server', origin],
      env: { ATELIER_TOKEN: 's' },
    });
  });

  it('keeps the token out of programs', () => {
    for (const client of [
      'openai',
      'openai-agents',
      'langchain',
      'langchain-js',
      'curl',
      'vscode',
      'cursor',
      'claude-code',
      'chatgpt',
    ] as const)
      expect(snippetOf(client, all, 'atl_secret').text, client).not.toContain('atl_secret');
  });
});
