// Writes docs.css, the Studio's fonts for the API page at /docs. The server renders that page and does not know the
// names of the font files, which have a hash.
import type { Plugin } from 'vite';

const fonts = {
  'Inter Variable': /(^|\/)inter-latin-wght-normal-[^/]+\.woff2$/,
  'JetBrains Mono Variable': /(^|\/)jetbrains-mono-latin-wght-normal-[^/]+\.woff2$/,
};

export function docsFonts(): Plugin {
  return {
    name: 'docs-fonts',
    apply: 'build',
    generateBundle(_, bundle) {
      this.emitFile({ type: 'asset', fileName: 'docs.css', source: fontFaces(Object.keys(bundle)) });
    },
  };
}

/** The @font-face rules of the fonts, with their addresses relative to the Studio's folder. */
export function fontFaces(files: readonly string[]): string {
  return Object.entries(fonts)
    .map(([family, name]) => {
      const file = files.find((one) => name.test(one));
      if (file === undefined) throw new Error(`The build has no file of the font ${family}.`);
      return `@font-face{font-family:'${family}';font-weight:100 900;font-display:swap;src:url(${file}) format('woff2')}\n`;
    })
    .join('');
}
