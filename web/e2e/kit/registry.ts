// Provides a registry of npm packages and an index of Python wheels on loopback.
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32, gzipSync } from 'node:zlib';

export type Registry = {
  url: string;
  add: (name: string, version: string, code: string, dependencies?: Record<string, string>) => void;
  /** Publishes a wheel with the given files. `simple` is the URL of the index. */
  addWheel: (name: string, version: string, files: Record<string, string>) => void;
  simple: string;
  stop: () => Promise<void>;
};

/** Returns one member of a tar archive. */
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

/** Returns a ZIP archive without compression. */
function zip(files: Record<string, string>): Buffer {
  const parts: Buffer[] = [];
  const index: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const fields = Buffer.alloc(26); // the fields that both headers contain
    fields.writeUInt16LE(20, 0); // minimum version of ZIP that can unpack the archive
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(content.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), fields, Buffer.from(name), content]);
    index.push(Buffer.from('PK\u0001\u0002\u0014\u0000'), fields, place, Buffer.from(name));
    parts.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(index);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}

export async function startRegistry(): Promise<Registry> {
  const packages = new Map<string, Map<string, Buffer>>();
  const needs = new Map<string, Record<string, string>>(); // dependencies of each package, by name@version
  const wheels = new Map<string, Buffer>(); // content of each archive, by file name
  const server: Server = createServer((request, answer) => {
    const address = new URL(request.url ?? '', 'http://localhost');
    if (address.pathname === '/-/v1/search') {
      const names = [...packages.keys()].filter((name) => name.includes(address.searchParams.get('text') ?? ''));
      return void answer.end(JSON.stringify({ objects: names.map((name) => ({ package: { name } })) }));
    }
    if (address.pathname.startsWith('/simple/')) {
      const project = address.pathname.split('/')[2] ?? '';
      const files = [...wheels.keys()].filter((name) => name.startsWith(`${project}-`));
      return void answer
        .writeHead(files.length > 0 ? 200 : 404, { 'Content-Type': 'text/html' })
        .end(files.map((name) => `<a href="/wheels/${name}">${name}</a>`).join('\n'));
    }
    const wheel = wheels.get(address.pathname.slice('/wheels/'.length));
    if (wheel !== undefined) return void answer.end(wheel);
    const [name = '', , file = ''] = (request.url ?? '').slice(1).split('/');
    const versions = packages.get(name);
    const archive = versions?.get(file.replace('.tgz', ''));
    if (versions === undefined) return void answer.writeHead(404).end('{}');
    if (archive !== undefined) return void answer.end(archive);
    const listed = [...versions].map(([version, tarball]) => {
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      const dependencies = needs.get(`${name}@${version}`);
      const dist = { tarball: `${url}/${name}/-/${version}.tgz`, integrity };
      return [version, { name, version, dependencies, dist }] as const;
    });
    const latest = listed.at(-1)?.[0];
    answer.end(JSON.stringify({ name, versions: Object.fromEntries(listed), 'dist-tags': { latest } }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url,
    simple: `${url}/simple/`,
    addWheel: (name, version, files) => {
      const about = `${name}-${version}.dist-info`;
      const wheel = zip({
        ...files,
        [`${about}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\nLicense: MIT\n`,
        [`${about}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
        [`${about}/RECORD`]: '',
      });
      wheels.set(`${name}-${version}-py3-none-any.whl`, wheel);
    },
    add: (name, version, code, dependencies = {}) => {
      const files = [
        member('package/package.json', JSON.stringify({ name, version, types: 'index.d.ts', dependencies })),
        member('package/index.d.ts', 'export declare function greet(name: string): string;\n'),
        member('package/index.js', code),
      ];
      needs.set(`${name}@${version}`, dependencies);
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
