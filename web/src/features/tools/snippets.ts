// Builds the configuration that connects a client to an MCP URL, in the form that the client's documentation describes.
// web/e2e/adapters.ts runs the configurations that are programs.
import { stringifyJson, type Json } from '../../api/json';
import { shellQuote } from '../../agent/callCommands';

/** The source of the client's tools: all agents, one agent or a tool set. */
export interface Offer {
  /** The server's URL, for example http://127.0.0.1:8002. */
  origin: string;
  kind: 'all' | 'agent' | 'set';
  /** The name of the agent, with its version, or the name of the tool set. */
  name: string;
  /** Whether the client gets two tools that search and run, instead of one tool per version. */
  codeMode: boolean;
}

export const clients = [
  'claude-code',
  'claude-desktop',
  'chatgpt',
  'cursor',
  'vscode',
  'windsurf',
  'openai',
  'openai-agents',
  'langchain',
  'langchain-js',
  'curl',
] as const;
export type ClientName = (typeof clients)[number];

export interface Snippet {
  /** The file to which the text belongs. It is undefined for a command and a request. */
  file?: string;
  text: string;
}

const paths: Record<Offer['kind'], (name: string) => string> = {
  all: () => '/mcp',
  agent: (name) => `/mcp/${name}`,
  set: (name) => `/mcp/sets/${name}`,
};

/** Returns the URL that a client opens. */
export const addressOf = ({ origin, kind, name, codeMode }: Offer): string =>
  `${origin}${paths[kind](name)}${codeMode ? '?mode=code' : ''}`;

/**
 * Returns the name under which a client lists the tools. It starts with a letter, followed by letters, digits, - and _.
 */
export const labelOf = ({ kind, name }: Offer): string => (kind === 'all' ? 'atelier' : name.replace(/@.*$/, ''));

/** Returns the command that creates a token with only the necessary scope. */
export const tokenCommand = (agents: readonly string[]): string =>
  ['atelier token create NAME --scope run', ...agents.map((agent) => `--agent ${agent}`)].join(' ');

/** Returns the arguments of atelier mcp, for clients that start a program. */
const argumentsOf = ({ origin, kind, name, codeMode }: Offer): string[] => [
  'mcp',
  ...(kind === 'agent' ? [name] : []),
  ...(kind === 'set' ? ['--set', name] : []),
  ...(codeMode ? ['--code-mode'] : []),
  '--server',
  origin,
];

const json = (value: Json): string => stringifyJson(value, 2);

const python = (headers: string, body: string): string => `import asyncio
import os

${headers}


async def main():
${body}

asyncio.run(main())
`;

/**
 * Returns the configuration of a client. Programs, and editors that can ask the user or read an environment variable,
 * get the token at run time. The configuration of other clients contains `secret`. Without a secret, it contains the
 * name of a variable.
 */
export function snippetOf(client: ClientName, offer: Offer, secret: string | undefined): Snippet {
  const url = addressOf(offer);
  const label = labelOf(offer);
  const servers = (entry: Json): string => json({ mcpServers: { [label]: entry } });
  const headers = { Authorization: `Bearer ${secret ?? '${env:ATELIER_TOKEN}'}` };
  switch (client) {
    case 'claude-code':
      return {
        text: `claude mcp add --transport http ${label} ${shellQuote(url)} \\\n  --header "Authorization: Bearer $ATELIER_TOKEN"`,
      };
    case 'claude-desktop':
      return {
        file: 'claude_desktop_config.json',
        text: servers({ command: 'atelier', args: argumentsOf(offer), env: { ATELIER_TOKEN: secret ?? 'TOKEN' } }),
      };
    case 'chatgpt':
      return { text: `Name: ${label}\nMCP Server URL: ${url}\nAuthentication: OAuth` };
    case 'cursor':
      return {
        file: '~/.cursor/mcp.json',
        text: servers({ url, headers: { Authorization: 'Bearer ${env:ATELIER_TOKEN}' } }),
      };
    case 'windsurf':
      return { file: '~/.codeium/windsurf/mcp_config.json', text: servers({ serverUrl: url, headers }) };
    case 'vscode': {
      const id = 'atelier-token';
      return {
        file: '.vscode/mcp.json',
        text: json({
          inputs: [{ type: 'promptString', id, description: 'Atelier token', password: true }],
          servers: { [label]: { type: 'http', url, headers: { Authorization: `Bearer \${input:${id}}` } } },
        }),
      };
    }
    case 'openai':
      return {
        file: 'ask.py',
        text: `import os
import sys

from openai import OpenAI

answer = OpenAI().responses.create(
    model=os.environ["MODEL"],
    input=sys.argv[1],
    tools=[
        {
            "type": "mcp",
            "server_label": "${label}",
            "server_url": "${url}",
            "authorization": os.environ["ATELIER_TOKEN"],
            "require_approval": "never",
        }
    ],
)
print(answer.output_text)
`,
      };
    case 'openai-agents':
      return {
        file: 'agent.py',
        text: python(
          `import sys

from agents import Agent, Runner
from agents.mcp import MCPServerStreamableHttp`,
          `    params = {
        "url": "${url}",
        "headers": {"Authorization": "Bearer " + os.environ["ATELIER_TOKEN"]},
    }
    async with MCPServerStreamableHttp(name="${label}", params=params) as server:
        agent = Agent(name="Assistant", model=os.environ["MODEL"], mcp_servers=[server])
        result = await Runner.run(agent, sys.argv[1])
        print(result.final_output)
`,
        ),
      };
    case 'langchain':
      return {
        file: 'tools.py',
        text: python(
          'from langchain_mcp_adapters.client import MultiServerMCPClient',
          `    client = MultiServerMCPClient(
        {
            "${label}": {
                "transport": "http",
                "url": "${url}",
                "headers": {"Authorization": "Bearer " + os.environ["ATELIER_TOKEN"]},
            }
        }
    )
    for tool in await client.get_tools():
        print(tool.name, tool.description)
`,
        ),
      };
    case 'langchain-js':
      return {
        file: 'tools.mjs',
        text: `import { MultiServerMCPClient } from '@langchain/mcp-adapters';

const client = new MultiServerMCPClient({
  ${stringifyJson(label)}: {
    transport: 'http',
    url: ${stringifyJson(url)},
    headers: { Authorization: \`Bearer \${process.env.ATELIER_TOKEN}\` },
  },
});
for (const tool of await client.getTools()) console.log(tool.name, tool.description);
await client.close();
`,
      };
    case 'curl': {
      const revision = '2026-07-28';
      const meta = {
        'io.modelcontextprotocol/protocolVersion': revision,
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } };
      return {
        text: [
          `curl -sS ${shellQuote(url)}`,
          `-H "Authorization: Bearer $ATELIER_TOKEN" -H 'Content-Type: application/json'`,
          `-H 'Accept: application/json, text/event-stream'`,
          `-H 'Mcp-Protocol-Version: ${revision}' -H 'Mcp-Method: tools/list'`,
          `-d ${shellQuote(stringifyJson(body))}`,
        ].join(' \\\n  '),
      };
    }
  }
}
