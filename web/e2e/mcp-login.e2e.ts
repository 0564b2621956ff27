// An MCP client finds the OpenID provider by itself, signs a person in there, and calls a tool with the access token.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, startAtelier, type Atelier } from './kit/atelier';
import { launch } from './kit/browser';
import { startProvider, type IdentityProvider } from './kit/provider';
import { must, publishedAgent } from './kit/seed';

let provider: IdentityProvider;
let atelier: Atelier;
let browser: Browser;
let callback: Server;
let codes: string[];
let back: string;

beforeAll(async () => {
  codes = [];
  provider = await startProvider();
  callback = createServer((request, response) => {
    codes.push(new URL(request.url ?? '', back).searchParams.get('code') ?? '');
    response.end('signed in');
  });
  await new Promise<void>((ready) => callback.listen(0, '127.0.0.1', ready));
  back = `http://127.0.0.1:${String((callback.address() as AddressInfo).port)}/callback`;
  const address = `127.0.0.1:${String(await freePort())}`;
  [atelier, browser] = await Promise.all([
    startAtelier(
      ...['--listen', address, '--public-url', `http://${address}`, '--oidc-issuer', provider.issuer],
      ...['--oidc-client', provider.client.id, '--oidc-client-secret', provider.client.secret],
      ...['--oidc-roles', 'engineers=developer,guests=viewer'],
    ),
    launch(),
  ]);
  provider.register(`${atelier.url}/login/oidc/callback`, back);
  await publishedAgent(atelier, 'weather');
  await must(atelier, 'PUT', '/tool-sets/daily', { references: ['weather@^1'] });
});
afterAll(async () => {
  await browser.close();
  callback.closeAllConnections();
  await new Promise<void>((done) => callback.close(() => done()));
  await atelier.stop();
  await provider.stop();
});

/** Signs a person in with the flow of the SDK, and returns the tokens that the provider issued. */
async function tokensOf(person: string, path: string): Promise<OAuthTokens> {
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let asked: URL | undefined;
  const auth: OAuthClientProvider = {
    redirectUrl: back,
    clientMetadata: { redirect_uris: [back], scope: 'openid profile' },
    clientInformation: () => ({ client_id: 'mcp' }),
    tokens: () => tokens,
    saveTokens: (issued) => void (tokens = issued),
    redirectToAuthorization: (url) => void (asked = url),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
  };
  const transport = new StreamableHTTPClientTransport(new URL(atelier.url + path), { authProvider: auth });
  await expect(new Client({ name: 'test', version: '1' }).connect(transport)).rejects.toThrow('Unauthorized');
  expect(asked?.origin).toBe(provider.issuer);
  expect(asked?.searchParams.get('resource')).toBe(atelier.url + path);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(String(asked));
  await page.getByPlaceholder('Enter any login').fill(person);
  await page.getByPlaceholder('and password').fill('anything');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('signed in').waitFor();
  await context.close();
  await transport.finishAuth(codes.pop() ?? '');
  if (tokens === undefined) throw new Error('the provider issued no token');
  return tokens;
}

const opened = async (token: string, path: string): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(atelier.url + path), { requestInit: { headers } }));
  return client;
};

test('a client signs in at the provider, and its token works for its address only', async () => {
  provider.people.set('ada', { name: 'Ada Lovelace', email: 'ada@example.com', groups: ['engineers'] });
  const { access_token: token } = await tokensOf('ada', '/mcp/sets/daily');
  const client = await opened(token, '/mcp/sets/daily');
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['weather']);
  const answer = await client.callTool({ name: 'weather', arguments: { city: 'Oslo' } });
  expect(answer.structuredContent).toEqual({ text: 'Sun in Oslo' });
  await client.close();
  await expect(opened(token, '/mcp')).rejects.toThrow('for another address');
  const api = await fetch(`${atelier.url}/api/v1/code-agents`, { headers: { authorization: `Bearer ${token}` } });
  expect(api.status).toBe(401);
});

test('a role without the scope run is refused', async () => {
  provider.people.set('eve', { name: 'Eve', email: 'eve@example.com', groups: ['guests'] });
  const { access_token: token } = await tokensOf('eve', '/mcp');
  await expect(opened(token, '/mcp')).rejects.toThrow('requires the role developer');
});

test('the metadata name the address and the provider', async () => {
  const metadata = await fetch(`${atelier.url}/.well-known/oauth-protected-resource/mcp/weather`);
  expect(await metadata.json()).toMatchObject({
    resource: `${atelier.url}/mcp/weather`,
    authorization_servers: [provider.issuer],
    bearer_methods_supported: ['header'],
  });
  const refused = await fetch(`${atelier.url}/mcp/weather`, { method: 'POST' });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toContain(
    `resource_metadata="${atelier.url}/.well-known/oauth-protected-resource/mcp/weather"`,
  );
});
