// Computes the server's digests in the page. It contains an implementation of SHA-256, because browsers have no
// crypto.subtle on plain HTTP.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Json } from '../api/json';
import type { Files, Version } from '../api/types';
import { bytesOf } from '../api/contents';
import { canonical } from './canonical';

export const digestOf = (value: Json): string => sum(new TextEncoder().encode(canonical(value)));

/** Computes the digest of a program: the digests of its files, and its entrypoint. */
export function codeDigestOf(files: Files, entrypoint: string): string {
  const sums = Object.entries(files).map(([path, content]) => [path, sum(bytesOf(content))]);
  return digestOf({ form: 'atelier/code/1', entrypoint, files: Object.fromEntries(sums) as Record<string, string> });
}

/** Computes the digest of a version's content: the digest of its program, and all its settings. */
export function contentDigestOf(version: Version, code: string): string {
  const { title, description, language, runtime, inputSchema, outputSchema, packages, environment } = version;
  const { capabilities, limits, requiresApproval, deterministic, rules, isolation, lock } = version;
  return digestOf({
    ...{ form: 'atelier/content/1', code, title, description, language, runtime },
    ...{ inputSchema, outputSchema, packages, environment, secrets: set(version.secrets) },
    capabilities: {
      hosts: set(capabilities.hosts),
      hostFunctions: set(capabilities.hostFunctions),
      subprocess: capabilities.subprocess,
    },
    ...{ limits: { ...limits }, safetyFlags: set(version.safetyFlags), requiresApproval, deterministic },
    // A field that older versions did not have is omitted if it is empty.
    ...(rules && { rules: { pack: rules.pack, ...(rules.imports?.length && { imports: set(rules.imports) }) } }),
    ...(isolation && { isolation }),
    ...(lock && { lock: lockDigestOf(lock) }),
  });
}

/** Computes the digest of a version's exact packages from their hashes. The URLs of their archives are not included. */
function lockDigestOf({ ecosystem, platform, packages }: NonNullable<Version['lock']>): string {
  const each = packages.map(({ name, version, path = '', hash }) => [name, version, path, hash]);
  return digestOf({ form: 'atelier/lock/1', ecosystem, platform, packages: each });
}

/** Computes the digest that a pinned reference contains: the content, the name and the number of the version. */
export function versionDigestOf({ agent, version, changelog }: Version, content: string): string {
  return digestOf({ form: 'atelier/version/1', content, name: agent, version, changelog });
}

/** Sets are sorted. */
const set = (names: readonly string[]): string[] => [...new Set(names)].sort();

const sum = (bytes: Uint8Array): string => `sha256:${bytesToHex(sha256(bytes))}`;
