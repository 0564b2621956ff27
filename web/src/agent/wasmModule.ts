// Reads WebAssembly modules that a user uploads.
import type { FileContent } from '../api/types';
import { module as say } from '../texts/files';

export const largestModule = 32 * 2 ** 20;

/**
 * Returns the reason why a file is not a WebAssembly module, or undefined. The server checks whether the module can
 * run.
 */
export function moduleFault(file: File | undefined): string | undefined {
  if (!file) return say.choose;
  if (!file.name.endsWith('.wasm')) return say.isNoModule(file.name);
  if (file.size > largestModule) return say.isTooLarge(file.name, file.size, largestModule);
  return undefined;
}

/** Returns the file content in the format of the API. */
export function readModule(file: File): Promise<FileContent> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(new Error(say.notRead(file.name)));
    reader.onload = () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve({ base64: url.slice(url.indexOf(',') + 1) });
    };
    reader.readAsDataURL(file);
  });
}
