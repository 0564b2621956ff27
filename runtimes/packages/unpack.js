// Unpacks npm tarballs inside a jail without network. It prints each file to stdout: a line of JSON with path and size,
// then the bytes. The server checks every path again and writes the files. If the request has scripts, the packages are
// first written to the disk of the jail, and their install scripts run there. Otherwise no code of a package runs.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');
const { spawnSync } = require('node:child_process');

const LARGEST = 256 << 20; // maximum bytes of one archive when it is unpacked
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

// Returns the path of a member in its package. Like npm, it removes the first folder.
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
      files.set(target, content); // if a name occurs twice, the last member is used, as in npm
    }
  }
  return files;
}

function spend(bytes) {
  room -= bytes;
  if (room < 0) {
    throw new Refused('is larger than allowed when it is unpacked');
  }
}

// Prints the files of a package and returns its metadata.
function send(folder, files) {
  let meta = {};
  for (const [name, content] of files) {
    spend(content.length);
    say({ path: `${folder}/${name}`, size: content.length }, content);
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

const top = path.join(process.env.TMPDIR ?? '', 'packages');

// Writes a package to the disk of the jail.
function write(folder, files) {
  for (const [name, content] of files) {
    const target = path.join(top, folder, name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, content, { mode: content.subarray(0, 2).toString() === '#!' ? 0o755 : 0o644 });
  }
}

// Creates links to the commands of a package in the folder bin, so that install scripts can call them by name, as with npm.
function link(folder) {
  const { name, bin } = JSON.parse(fs.readFileSync(path.join(top, folder, 'package.json'), 'utf8'));
  const commands = typeof bin === 'string' ? { [path.basename(String(name))]: bin } : (bin ?? {});
  for (const [command, file] of Object.entries(commands)) {
    const target = path.join(top, folder, String(file));
    if (/^[\w.-]+$/.test(command) && fs.existsSync(target)) {
      fs.chmodSync(target, 0o755);
      fs.rmSync(path.join(top, 'bin', command), { force: true });
      fs.symlinkSync(target, path.join(top, 'bin', command));
    }
  }
}

// Runs the install scripts of a package.
function install(folder) {
  const cwd = path.join(top, folder);
  const { name, version, scripts } = JSON.parse(fs.readFileSync(path.join(cwd, 'package.json'), 'utf8'));
  for (const event of ['preinstall', 'install', 'postinstall']) {
    if (typeof scripts?.[event] !== 'string') {
      continue;
    }
    const env = {
      ...process.env,
      ...{ PATH: `${path.join(top, 'bin')}:${process.env.PATH}`, INIT_CWD: top, npm_lifecycle_event: event, npm_lifecycle_script: scripts[event] },
      ...{ npm_package_name: String(name), npm_package_version: String(version), npm_node_execpath: process.execPath },
    };
    const ended = spawnSync('/bin/sh', ['-c', scripts[event]], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 4 << 20 });
    if (ended.status !== 0) {
      const lines = `${ended.stdout ?? ''}\n${ended.stderr ?? ''}`.split('\n').map((line) => line.trim()).filter(Boolean);
      const cause = lines.findLast((line) => /^[\w.]*Error\b/.test(line)) ?? lines.at(-1) ?? ended.error?.message ?? 'it printed nothing';
      throw new Refused(`could not be installed: its script ${event} ended with ${ended.signal ?? ended.status}: ${cause.slice(0, 300)}`);
    }
  }
}

// Reads the files of a package from the disk of the jail, without nested packages and links.
function readBack(folder) {
  const files = new Map();
  const visit = (inside) => {
    for (const entry of fs.readdirSync(path.join(top, folder, inside), { withFileTypes: true })) {
      const name = inside ? `${inside}/${entry.name}` : entry.name;
      if (entry.isDirectory() && entry.name !== 'node_modules') {
        visit(name);
      } else if (entry.isFile()) {
        const file = path.join(top, folder, name);
        spend(fs.statSync(file).size);
        files.set(name, fs.readFileSync(file));
      }
    }
  };
  visit('');
  // Undoes the count of spend, because the function send counts these bytes again.
  room += [...files.values()].reduce((sum, content) => sum + content.length, 0);
  return files;
}

function attempt(i, step) {
  try {
    step();
    return true;
  } catch (error) {
    const large = error.code === 'ERR_BUFFER_TOO_LARGE' || error.code === 'ENOSPC';
    const reason = error instanceof Refused ? error.message : large ? 'is larger than allowed when it is unpacked' : 'is not a usable archive';
    say({ refused: reason, archive: i });
    return false;
  }
}

// Writes all packages to the disk of the jail and runs their install scripts. Scripts of nested packages run first.
function prepare() {
  fs.mkdirSync(path.join(top, 'bin'), { recursive: true });
  const all = [...asked.archives.entries()];
  const depth = ([, archive]) => archive.path.split('node_modules/').length;
  return (
    all.every(([i, { file, path: folder }]) => attempt(i, () => (write(folder, read(`/archives/${file}`)), link(folder)))) &&
    [...all].sort((a, b) => depth(b) - depth(a)).every(([i, archive]) => attempt(i, () => install(archive.path)))
  );
}

function main() {
  if (asked.scripts && !prepare()) {
    return;
  }
  for (const [i, archive] of asked.archives.entries()) {
    say({ archive: i });
    const unpack = () => say({ meta: send(archive.path, asked.scripts ? readBack(archive.path) : read(`/archives/${archive.file}`)), archive: i });
    if (!attempt(i, unpack)) {
      return;
    }
  }
  say({ done: true });
}

main();
