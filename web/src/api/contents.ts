// Converts uploaded and downloaded files between bytes and the API's form. That form is a string for text and base64
// for all other content.
import type { FileContent } from './types';

/** Valid UTF-8 without NUL counts as text. A byte order mark is removed. */
export async function readUpload(file: File): Promise<FileContent> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (!bytes.includes(0)) {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      // the file is not text
    }
  }
  return { base64: toBase64(bytes) };
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // Converts in chunks, because a function call accepts a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

export function bytesOf(content: FileContent): Uint8Array<ArrayBuffer> {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  return Uint8Array.from(atob(content.base64), (char) => char.charCodeAt(0));
}

const pictures: Record<string, string> = { png: 'png', jpg: 'jpeg', jpeg: 'jpeg', webp: 'webp', gif: 'gif' };

/** Returns a data URL for a picture. It excludes formats that can contain scripts. */
export function pictureOf(path: string, content: FileContent): string | undefined {
  const type = pictures[path.split('.').at(-1)?.toLowerCase() ?? ''];
  return type === undefined || typeof content === 'string' ? undefined : `data:image/${type};base64,${content.base64}`;
}
