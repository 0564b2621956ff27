// Starts a real OpenID provider in this process. It accepts every name and password. The test defines the claims of
// each name.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface Person {
  name: string;
  email: string;
  groups: string[];
}

export interface IdentityProvider {
  issuer: string;
  client: { id: string; secret: string };
  /** The claims of each sign-in name. */
  people: Map<string, Person>;
  /**
   * Registers a server as a client. It also registers a public client `mcp` with a separate callback URL. Call it once,
   * when the server's URL is known.
   */
  register: (callback: string, mcp?: string) => void;
  stop: () => Promise<void>;
}

export async function startProvider(): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const client = { id: 'atelier', secret: crypto.randomUUID() };
  const people = new Map<string, Person>();
  return {
    issuer,
    client,
    people,
    register: (callback, mcp) => {
      const provider = new Provider(issuer, {
        clients: [
          { client_id: client.id, client_secret: client.secret, redirect_uris: [callback] },
          ...(mcp === undefined
            ? []
            : [{ client_id: 'mcp', token_endpoint_auth_method: 'none' as const, redirect_uris: [mcp] }]),
        ],
        features: {
          resourceIndicators: {
            enabled: true,
            getResourceServerInfo: (_, resource) => ({
              scope: 'profile',
              audience: resource,
              accessTokenFormat: 'jwt',
              jwt: { sign: { alg: 'RS256' } },
            }),
          },
        },
        extraTokenClaims: (_, token) => ({ groups: people.get(accountOf(token))?.groups }),
        claims: { openid: ['sub'], profile: ['name', 'preferred_username', 'groups'], email: ['email'] },
        pkce: { required: () => true, methods: ['S256'] },
        findAccount: (_, id) => ({
          accountId: id,
          claims: () => ({ sub: id, preferred_username: id, ...people.get(id) }),
        }),
        ttl: { Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, Interaction: 600 },
        cookies: { keys: [crypto.randomUUID()] },
      });
      const answer = provider.callback();
      server.on('request', (request, response) => void answer(request, response));
    },
    stop: () => end(server),
  };
}

/** Returns the account to which an access token belongs; '' for the token of a client. */
function accountOf(token: object): string {
  return 'accountId' in token && typeof token.accountId === 'string' ? token.accountId : '';
}

function end(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}
