// Merges two drafts that have a common base. It merges files line by line, and other data field by field.
import { diff3Merge } from 'node-diff3';
import type { FileContent, Files } from '../api/types';
import type { Content } from './session';

/** One file or one field that at least one side changed. */
export interface Part {
  key: string;
  kind: 'file' | 'draft' | 'about';
  mine: unknown;
  theirs: unknown;
  merged: unknown;
  /**
   * Whether both sides changed the part in incompatible ways. Then `merged` contains both texts with marks, or my side.
   */
  conflict: boolean;
}

export type Side = 'merged' | 'mine' | 'theirs';

/** Lists the differences between both sides. Without a base, every difference is a conflict. */
export function mergeParts(base: Content | undefined, mine: Content, theirs: Content): Part[] {
  const files = keysOf(mine.draft.files, theirs.draft.files)
    .sort()
    .map((path) =>
      mergeFile(path, base?.draft.files, mine.draft.files[path], theirs.draft.files[path], base !== undefined),
    );
  const fields = (['draft', 'about'] as const).flatMap((kind) => {
    const [own, other, old] = [fieldsOf(mine, kind), fieldsOf(theirs, kind), base && fieldsOf(base, kind)];
    return keysOf(own, other).map((key): Part => {
      const part = { key, kind, mine: own[key], theirs: other[key] };
      if (old && same(part.mine, old[key])) return { ...part, merged: part.theirs, conflict: false };
      return { ...part, merged: part.mine, conflict: !(old && same(part.theirs, old[key])) };
    });
  });
  return [...files, ...fields].filter((part) => !same(part.mine, part.theirs));
}

/** Returns my content with the selected side of each part. */
export function mergedContent(mine: Content, parts: Part[], side: (part: Part) => Side): Content {
  const draft: Record<string, unknown> = { ...mine.draft };
  const about: Record<string, unknown> = { ...mine.about };
  const files: Files = { ...mine.draft.files };
  for (const part of parts) {
    const value = part[side(part)];
    if (part.kind === 'draft') draft[part.key] = value;
    else if (part.kind === 'about') about[part.key] = value;
    else if (value === undefined) Reflect.deleteProperty(files, part.key);
    else files[part.key] = value as FileContent;
  }
  return { draft: { ...draft, files } as Content['draft'], about: about as Content['about'] };
}

function mergeFile(
  key: string,
  files: Files | undefined,
  mine: FileContent | undefined,
  theirs: FileContent | undefined,
  based: boolean,
): Part {
  const part = { key, kind: 'file' as const, mine, theirs };
  const old = files?.[key];
  if (based && same(mine, old)) return { ...part, merged: theirs, conflict: false };
  if (based && same(theirs, old)) return { ...part, merged: mine, conflict: false };
  if (typeof mine !== 'string' || typeof theirs !== 'string')
    return { ...part, merged: mine ?? theirs, conflict: true };
  const { text, conflict } = mergeText(typeof old === 'string' ? old : '', mine, theirs);
  return { ...part, merged: text, conflict };
}

type Region = { ok: string[] } | { conflict: { a: string[]; b: string[] } };

/** Merges two texts line by line. If both changed the same lines, the result contains both versions between marks. */
export function mergeText(base: string, mine: string, theirs: string): { text: string; conflict: boolean } {
  const regions = diff3Merge(mine.split('\n'), base.split('\n'), theirs.split('\n'), {
    excludeFalseConflicts: true,
  }) as unknown as Region[];
  const lines = regions.flatMap((region) =>
    'ok' in region
      ? region.ok
      : ['<<<<<<< mine', ...region.conflict.a, '=======', ...region.conflict.b, '>>>>>>> theirs'],
  );
  return { text: lines.join('\n'), conflict: regions.some((region) => 'conflict' in region) };
}

const excluded = new Set(['files', 'revision', 'savedAt', 'savedBy', 'name']);

function fieldsOf(content: Content, kind: 'draft' | 'about'): Record<string, unknown> {
  return Object.fromEntries(Object.entries(content[kind]).filter(([key]) => !excluded.has(key)));
}

const keysOf = (a: object, b: object): string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])];
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
