/** The path prefix under which a proxy serves the Studio. The server writes it into the page. '' means the root. */
export const basePath =
  typeof document === 'undefined'
    ? ''
    : (document.querySelector<HTMLMetaElement>('meta[name=base-path]')?.content ?? '');

/** The server's URL for programs outside of this page. */
export const serverUrl = (): string => location.origin + basePath;
