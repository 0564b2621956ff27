// The digests of the server, computed in the page. One implementation of SHA-256 for every page: on plain HTTP browsers have
// no crypto.subtle.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Json } from '../api/json';
import type { Files, Version } from '../api/types';
import { bytesOf } from '../api/contents';
import { canonical } from './canonical';

export const digestOf = (value: Json): string => sum(new TextEncoder().encode(canonical(value)));

/** What names a program: its files, by the digest of their bytes, and where it starts. */
export function codeDigestOf(files: Files, entrypoint: string): string {
  const sums = Object.entries(files).map(([path, content]) => [path, sum(bytesOf(content))]);
  return digestOf({ form: 'atelier/code/1', entrypoint, files: Object.fromEntries(sums) as Record<string, string> });
}

/** What decides what a version does or says it does: its program, by its digest, and all of its settings. */
export function contentDigestOf(version: Version, code: string): string {
  const { title, description, language, runtime, inputSchema, outputSchema, packages, environment } = version;
  const { capabilities, limits, requiresApproval, deterministic, rules, isolation } = version;
  return digestOf({
    ...{ form: 'atelier/content/1', code, title, description, language, runtime },
    ...{ inputSchema, outputSchema, packages, environment, secrets: set(version.secrets) },
    capabilities: {
      hosts: set(capabilities.hosts),
      hostFunctions: set(capabilities.hostFunctions),
      subprocess: capabilities.subprocess,
    },
    ...{ limits: { ...limits }, safetyFlags: set(version.safetyFlags), requiresApproval, deterministic },
    // What older versions had no word for is not in their form.
    ...(rules && { rules: { pack: rules.pack, ...(rules.imports?.length && { imports: set(rules.imports) }) } }),
    ...(isolation && { isolation }),
  });
}

/** What a pinned reference names: the content, and under which name and number it was published. */
export function versionDigestOf({ agent, version, changelog }: Version, content: string): string {
  return digestOf({ form: 'atelier/version/1', content, name: agent, version, changelog });
}

/** A set has no order. */
const set = (names: readonly string[]): string[] => [...new Set(names)].sort();

const sum = (bytes: Uint8Array): string => `sha256:${bytesToHex(sha256(bytes))}`;
