// A registry of npm packages on loopback, for tests.
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

export type Registry = {
  url: string;
  add: (name: string, version: string, code: string) => void;
  stop: () => Promise<void>;
};

/** One member of a tar archive. */
function member(name: string, text: string): Buffer {
  const content = Buffer.from(text);
  const head = Buffer.alloc(512);
  head.write(name, 0);
  head.write('0000644\0', 100);
  head.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  head.write('        0ustar\x0000', 148);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([head, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

export async function startRegistry(): Promise<Registry> {
  const packages = new Map<string, Map<string, Buffer>>();
  const server: Server = createServer((request, answer) => {
    const address = new URL(request.url ?? '', 'http://localhost');
    if (address.pathname === '/-/v1/search') {
      const names = [...packages.keys()].filter((name) => name.includes(address.searchParams.get('text') ?? ''));
      return void answer.end(JSON.stringify({ objects: names.map((name) => ({ package: { name } })) }));
    }
    const [name = '', , file = ''] = (request.url ?? '').slice(1).split('/');
    const versions = packages.get(name);
    const archive = versions?.get(file.replace('.tgz', ''));
    if (versions === undefined) return void answer.writeHead(404).end('{}');
    if (archive !== undefined) return void answer.end(archive);
    const listed = [...versions].map(([version, tarball]) => {
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      return [version, { name, version, dist: { tarball: `${url}/${name}/-/${version}.tgz`, integrity } }] as const;
    });
    const latest = listed.at(-1)?.[0];
    answer.end(JSON.stringify({ name, versions: Object.fromEntries(listed), 'dist-tags': { latest } }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url,
    add: (name, version, code) => {
      const files = [
        member('package/package.json', JSON.stringify({ name, version, types: 'index.d.ts' })),
        member('package/index.d.ts', 'export declare function greet(name: string): string;\n'),
        member('package/index.js', code),
      ];
      const versions = packages.get(name) ?? new Map<string, Buffer>();
      packages.set(name, versions.set(version, gzipSync(Buffer.concat([...files, Buffer.alloc(1024)]))));
    },
    stop: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
