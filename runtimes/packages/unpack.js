// Unpacks npm tarballs inside a jail without network and prints the files to stdout: for each a line of JSON with path and
// size, then its bytes. It never writes a file. The server writes them, and checks every path again.
'use strict';
const fs = require('node:fs');
const zlib = require('node:zlib');

const LARGEST = 256 << 20; // bytes of one archive when it is unpacked
const asked = JSON.parse(fs.readFileSync('request.json', 'utf8'));
let room = asked.room;

class Refused extends Error {}

function put(bytes) {
  for (let at = 0; at < bytes.length; ) {
    at += fs.writeSync(1, bytes, at);
  }
}

function say(head, content) {
  put(Buffer.from(`${JSON.stringify(head)}\n`));
  if (content) {
    put(content);
  }
}

const text = (block, from, to) => block.subarray(from, to).toString('utf8').replace(/\0.*$/s, '');

function number(block, from, to) {
  if (block[from] & 0x80) {
    throw new Refused('has a member that is too large');
  }
  const digits = text(block, from, to).trim();
  if (!/^[0-7]*$/.test(digits)) {
    throw new Refused('is not a usable archive');
  }
  return parseInt(digits || '0', 8);
}

// Reads the records of a pax header: "length key=value\n".
function records(content) {
  const found = {};
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = parseInt(content.subarray(at, space).toString(), 10);
    if (space < 0 || !(length > 0)) {
      throw new Refused('is not a usable archive');
    }
    const record = content.subarray(space + 1, at + length - 1).toString('utf8');
    const equals = record.indexOf('=');
    found[record.slice(0, equals)] = record.slice(equals + 1);
    at += length;
  }
  return found;
}

// Returns the path of a member below its package: npm drops the first folder.
function place(name) {
  const parts = name.split('/').filter((part, i) => part !== '.' || i > 0);
  if (name.startsWith('/') || name.includes('\\') || name.includes('\0') || parts.some((part) => part === '..' || part === '.')) {
    throw new Refused(`contains the path ${JSON.stringify(name.slice(0, 200))}, which leaves its folder`);
  }
  return parts.slice(1).filter(Boolean).join('/');
}

function read(archive) {
  const bytes = zlib.gunzipSync(fs.readFileSync(archive), { maxOutputLength: Math.min(LARGEST, room) + 1 });
  const files = new Map();
  let extra = {};
  let long = '';
  for (let at = 0; at + 512 <= bytes.length; ) {
    const block = bytes.subarray(at, at + 512);
    at += 512;
    if (block.every((byte) => byte === 0)) {
      break;
    }
    const size = number(block, 124, 136);
    const content = bytes.subarray(at, at + size);
    if (content.length < size) {
      throw new Refused('ends too early');
    }
    at += Math.ceil(size / 512) * 512;
    const kind = String.fromCharCode(block[156] || 0x30);
    if (kind === 'x') {
      extra = records(content);
      continue;
    }
    if (kind === 'g') {
      continue;
    }
    if (kind === 'L') {
      long = content.toString('utf8').replace(/\0.*$/s, '');
      continue;
    }
    const prefix = block.subarray(257, 262).toString() === 'ustar' ? text(block, 345, 500) : '';
    const name = extra.path || long || (prefix ? `${prefix}/` : '') + text(block, 0, 100);
    if (extra.size && Number(extra.size) !== size) {
      throw new Refused('is not a usable archive');
    }
    extra = {};
    long = '';
    if (kind === '5') {
      place(name);
      continue;
    }
    if (kind !== '0' && kind !== '7') {
      throw new Refused(`contains ${JSON.stringify(name.slice(0, 200))}, which is a link or a device`);
    }
    const target = place(name);
    if (target) {
      files.set(target, content); // like npm, the last one of a name counts
    }
  }
  return files;
}

function unpack({ file, path }) {
  let meta = {};
  for (const [name, content] of read(`/archives/${file}`)) {
    room -= content.length;
    if (room < 0) {
      throw new Refused('is larger than allowed when it is unpacked');
    }
    say({ path: `${path}/${name}`, size: content.length }, content);
    if (name === 'package.json') {
      try {
        const { name: own, version, description, license } = JSON.parse(content.toString('utf8'));
        meta = { name: String(own ?? '').slice(0, 300), version: String(version ?? '').slice(0, 300), summary: String(description ?? '').slice(0, 300), license: String(license?.type ?? license ?? '').slice(0, 200) };
      } catch {
        throw new Refused('has a package.json that is not JSON');
      }
    }
  }
  return meta;
}

function main() {
  for (const [i, archive] of asked.archives.entries()) {
    say({ archive: i });
    try {
      say({ meta: unpack(archive), archive: i });
    } catch (error) {
      const large = error.code === 'ERR_BUFFER_TOO_LARGE';
      const reason = error instanceof Refused ? error.message : large ? 'is larger than allowed when it is unpacked' : 'is not a usable archive';
      say({ refused: reason, archive: i });
      return;
    }
  }
  say({ done: true });
}

main();
