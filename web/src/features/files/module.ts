// WebAssembly modules as files that a person chooses.
import type { FileContent } from '../../api/types';

export const largestModule = 32 * 2 ** 20;

/** Why a file cannot be the module of an agent, or undefined. Whether it can be run, the server says. */
export function moduleFault(file: File | undefined): string | undefined {
  if (!file) return 'Choose the module, a file that ends in .wasm.';
  if (!file.name.endsWith('.wasm')) return `${file.name} is not a module: its name has to end in .wasm.`;
  if (file.size > largestModule) return `${file.name} has ${sizeText(file.size)}; a module has at most 32 MiB.`;
  return undefined;
}

/** The file as the API takes it. */
export function readModule(file: File): Promise<FileContent> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(new Error(`${file.name} could not be read.`));
    reader.onload = () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve({ base64: url.slice(url.indexOf(',') + 1) });
    };
    reader.readAsDataURL(file);
  });
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 2 ** 20 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
