/** The path beneath which a proxy shows the server, as the server wrote it into the page; '' is the root. */
export const basePath =
  typeof document === 'undefined'
    ? ''
    : (document.querySelector<HTMLMetaElement>('meta[name=base-path]')?.content ?? '');

/** How programs elsewhere reach the server that this page came from. */
export const serverUrl = (): string => location.origin + basePath;
