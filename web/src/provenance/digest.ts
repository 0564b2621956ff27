// The digests of the server, computed in the page. One implementation of SHA-256 for every page: on plain HTTP browsers have
// no crypto.subtle.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Json } from '../api/json';
import type { Files } from '../api/types';
import { bytesOf } from '../features/files/contents';
import { canonical } from './canonical';

export const digestOf = (value: Json): string => sum(new TextEncoder().encode(canonical(value)));

/** What names a program: its files, by the digest of their bytes, and where it starts. */
export function codeDigestOf(files: Files, entrypoint: string): string {
  const sums = Object.entries(files).map(([path, content]) => [path, sum(bytesOf(content))]);
  return digestOf({ form: 'atelier/code/1', entrypoint, files: Object.fromEntries(sums) as Record<string, string> });
}

const sum = (bytes: Uint8Array): string => `sha256:${bytesToHex(sha256(bytes))}`;
