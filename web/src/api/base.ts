/** The path prefix under which a proxy serves the Studio. The server writes it into the page; '' is the root. */
export const basePath =
  typeof document === 'undefined'
    ? ''
    : (document.querySelector<HTMLMetaElement>('meta[name=base-path]')?.content ?? '');

/** The server's address for programs outside this page. */
export const serverUrl = (): string => location.origin + basePath;
