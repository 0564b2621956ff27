// Resolves a list of npm requirements with npm, inside a jail that can only reach the registry. It writes the lock to
// result.json. If there is no lock, it writes the reason. No code of a package runs.
'use strict';
const fs = require('node:fs');
const { spawnSync } = require('node:child_process');

const asked = JSON.parse(fs.readFileSync('request.json', 'utf8'));

function fail(code, message, name = '') {
  return { error: { code, message, package: name } };
}

function nameOf(text) {
  const at = text.lastIndexOf('@');
  return at > 0 ? text.slice(0, at) : text;
}

// Converts npm's explanation of a failure to an error code, a message and a package.
function explain(text) {
  let said = {};
  try {
    said = JSON.parse(text.slice(text.indexOf('{'))).error ?? {};
  } catch {
    return fail('index', 'npm failed without an explanation');
  }
  const words = `${said.summary ?? ''} ${said.detail ?? ''}`.replace(/\/\/[^/@\s]+@/g, '//').replace(/\s+/g, ' ').trim();
  switch (said.code) {
    case 'E404': {
      const missing = /'([^']+)'/.exec(said.detail ?? '');
      return fail('not_found', 'was not found in the package registry', missing ? nameOf(missing[1]) : '');
    }
    case 'ETARGET': {
      const missing = /for (\S+?)\.?$/.exec((said.summary ?? '').trim());
      return fail('not_found', 'has no version that fits', missing ? nameOf(missing[1]) : '');
    }
    case 'ERESOLVE':
      return fail('conflict', words);
    default:
      return fail('index', words || String(said.code));
  }
}

// Reports whether an optional package supports the operating system and CPU of this machine.
function fits({ os, cpu, libc }) {
  const allows = (list, value) => !list?.length || (list.some((one) => !one.startsWith('!')) ? list.includes(value) : !list.includes(`!${value}`));
  return allows(os, process.platform) && allows(cpu, process.arch) && allows(libc, 'glibc');
}

function archive(name, version) {
  const base = name.replace(/^@[^/]+\//, '');
  return `${asked.index.replace(/\/$/, '')}/${name}/-/${base}-${version}.tgz`;
}

const nameIn = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

function locked(path, entry, given) {
  const name = entry.name ?? nameIn(path);
  if (given && (!/^(?:node_modules\/(?:@[a-z0-9._~-]+\/)?[a-z0-9._~-]+(?:\/|$))+$/i.test(path) || (entry.name !== undefined && entry.name !== nameIn(path)))) {
    return fail('lock', `package-lock.json has ${JSON.stringify(path.slice(0, 200))}, which is an alias or not the folder of a package`);
  }
  if (entry.link || (entry.resolved && !/^https?:/.test(entry.resolved))) {
    return fail('refused', 'depends on an address or a link instead of a version', name);
  }
  const found = /(?:^|\s)sha512-([A-Za-z0-9+/=]+)/.exec(entry.integrity ?? '');
  if (!found) {
    return fail('index', 'has no SHA-512 in the registry, so its files cannot be checked', name);
  }
  const license = typeof entry.license === 'string' ? entry.license : '';
  return { name, version: entry.version, path, hash: `sha512:${Buffer.from(found[1], 'base64').toString('hex')}`, url: (!given && entry.resolved) || archive(name, entry.version), license };
}

// Returns the exact packages of a package-lock.json, which must contain all packages of the list.
function keep(text, dependencies) {
  const stale = (why) => fail('lock', `package-lock.json ${why}; run npm install --package-lock-only again`);
  let lock;
  try {
    lock = JSON.parse(text);
  } catch {
    return stale('is not JSON');
  }
  if (typeof lock?.packages !== 'object' || lock.packages === null) {
    return stale('has no packages (it needs lockfileVersion 2 or 3)');
  }
  const named = lock.packages['']?.dependencies ?? {};
  const form = (range) => String(range).trim().replace(/\s+/g, ' ') || '*';
  for (const [name, range] of Object.entries(dependencies)) {
    if (!Object.hasOwn(named, name) || form(named[name]) !== form(range) || !Object.hasOwn(lock.packages, `node_modules/${name}`)) {
      return stale(`does not fit package.json, which has ${name}@${range}`);
    }
  }
  const extra = Object.keys(named).find((name) => !Object.hasOwn(dependencies, name));
  if (extra !== undefined) {
    return stale(`has ${extra}, which package.json does not have`);
  }
  return lock;
}

// Resolves the list with npm.
function choose(dependencies) {
  fs.mkdirSync('project');
  fs.writeFileSync('project/.npmrc', asked.npmrc);
  fs.writeFileSync('project/package.json', JSON.stringify({ name: 'agent', version: '1.0.0', private: true, dependencies }));
  const options = [
    ...['--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--json', '--omit=dev', '--no-update-notifier', '--loglevel=silent'],
    ...['--omit-lockfile-registry-resolved=false', `--registry=${asked.index}`, '--cache=/tmp/npm', '--fetch-retries=1', '--fetch-timeout=20000'],
  ];
  const ended = spawnSync(process.execPath, [asked.npm, 'install', ...options], { cwd: 'project', encoding: 'utf8', maxBuffer: 32 << 20 });
  if (ended.status !== 0) {
    return explain(ended.stdout || '');
  }
  return JSON.parse(fs.readFileSync('project/package-lock.json', 'utf8'));
}

function resolve() {
  const dependencies = Object.fromEntries(asked.requirements.map(({ name, range }) => [name, range]));
  const lock = asked.lock ? keep(asked.lock, dependencies) : choose(dependencies);
  if (lock.error) {
    return lock;
  }
  const packages = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '' || entry.inBundle || entry.dev || (entry.optional && !fits(entry))) {
      continue;
    }
    const one = locked(path, entry, asked.lock !== '');
    if (one.error) {
      return one;
    }
    packages.push(one);
  }
  const scripts = asked.builds && Object.values(lock.packages).some((entry) => entry.hasInstallScript) ? '+scripts' : '';
  return { packages, platform: `node${process.versions.node.split('.')[0]}-${process.platform}_${process.arch}${scripts}` };
}

fs.writeFileSync('result.json', JSON.stringify(resolve()));
