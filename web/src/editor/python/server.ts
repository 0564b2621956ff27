// Runs basedpyright in two workers with the same script. One answers requests, and the other analyses files and
// publishes diagnostics. The script is a classic script without eval and comes from our server.
import script from 'browser-basedpyright/dist/pyright.worker.js?url';
import type { PublishDiagnosticsParams } from './protocol';
import { Connection, type Message } from './connection';

export interface Server {
  connection: Connection;
  stop(): void;
}

export interface ServerEvents {
  diagnostics(published: PublishDiagnosticsParams): void;
  /** Called when a worker has crashed. Then the server no longer answers. */
  broken(): void;
}

const settings: Record<string, object> = {
  'basedpyright.analysis': { autoImportCompletions: true, diagnosticMode: 'openFilesOnly', useTypingExtensions: false },
};

/** Starts a server with the given files. Their paths are absolute. */
export async function startServer(root: string, files: Record<string, string>, events: ServerEvents): Promise<Server> {
  const workers: Worker[] = [];
  const connection = new Connection((message) => workers[0]?.postMessage(message), {
    'textDocument/publishDiagnostics': (params) => events.diagnostics(params as PublishDiagnosticsParams),
    'workspace/configuration': (params) => (params as Asked).items.map(({ section }) => settings[section] ?? {}),
  });
  const stop = (): void => {
    for (const worker of workers) worker.terminate();
    connection.close();
  };
  const start = (name: string): Worker => {
    const worker = new Worker(script, { name });
    worker.addEventListener('error', (event) => {
      event.preventDefault(); // prevents the browser from reporting the error, because it is handled here
      stop();
      events.broken();
    });
    workers.push(worker);
    return worker;
  };

  const foreground = start('python');
  foreground.addEventListener('message', ({ data }: MessageEvent<Told>) => {
    if (data.type !== 'browser/newWorker') return connection.receive(data);
    const { initialData, port } = data;
    start('python-background').postMessage({ type: 'browser/boot', mode: 'background', initialData, port }, [port]);
  });
  foreground.postMessage({ type: 'browser/boot', mode: 'foreground' });

  await connection.request('initialize', {
    processId: null,
    rootUri: root,
    workspaceFolders: [{ uri: root, name: 'agent' }],
    initializationOptions: { files },
    capabilities,
  });
  connection.notify('initialized', {});
  connection.notify('workspace/didChangeConfiguration', { settings: {} });
  return { connection, stop };
}

interface Asked {
  items: { section: string }[];
}

type Told = { type: 'browser/newWorker'; initialData: unknown; port: MessagePort } | (Message & { type?: undefined });

const markdown = ['markdown', 'plaintext'];
const capabilities = {
  workspace: { configuration: true, workspaceFolders: true },
  textDocument: {
    publishDiagnostics: { tagSupport: { valueSet: [1, 2] } },
    completion: {
      contextSupport: true,
      completionItem: {
        documentationFormat: markdown,
        resolveSupport: { properties: ['documentation', 'detail', 'additionalTextEdits'] },
        labelDetailsSupport: true,
      },
    },
    hover: { contentFormat: markdown },
    signatureHelp: {
      contextSupport: true,
      signatureInformation: {
        documentationFormat: markdown,
        parameterInformation: { labelOffsetSupport: true },
        activeParameterSupport: true,
      },
    },
    definition: {},
    references: {},
    rename: { prepareSupport: true },
  },
};
