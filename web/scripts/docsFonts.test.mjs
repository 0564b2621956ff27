import { expect, test } from 'vitest';
import { fontFaces } from './docsFonts';

const files = [
  'assets/inter-greek-wght-normal-A.woff2',
  'assets/inter-latin-ext-wght-normal-B.woff2',
  'assets/inter-latin-wght-normal-C.woff2',
  'assets/jetbrains-mono-latin-wght-normal-D.woff2',
];

test('the API page gets the Latin files of both fonts', () => {
  const css = fontFaces(files);
  expect(css).toContain("font-family:'Inter Variable'");
  expect(css).toContain('url(assets/inter-latin-wght-normal-C.woff2)');
  expect(css).toContain('url(assets/jetbrains-mono-latin-wght-normal-D.woff2)');
  expect(css.match(/@font-face/g)).toHaveLength(2);
});

test('a build without a font fails', () => {
  expect(() => fontFaces(files.slice(0, 3))).toThrow('JetBrains Mono');
});
