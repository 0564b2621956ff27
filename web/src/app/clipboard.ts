/** Copies text, also on plain HTTP, where browsers have no navigator.clipboard; says whether it worked. */
export async function copyText(text: string): Promise<boolean> {
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // The permission may be refused while the old command still works.
    }
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  const before = document.activeElement;
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'visually-hidden';
  // Inside a dialog the focus trap takes the focus back from anything outside of it.
  (before?.closest('[role=dialog]') ?? document.body).append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies on plain HTTP
  const done = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  downloadFrom(url, name);
  URL.revokeObjectURL(url);
}

/** Has the browser keep what is at an address, without holding it in memory. The server's name for it comes first. */
export function downloadFrom(url: string, name: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
