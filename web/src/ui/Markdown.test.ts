import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Markdown } from './Markdown';

const drawn = (text: string): string => renderToStaticMarkup(createElement(Markdown, { text }));

/** The HTML inside the wrapper, without the direction of its blocks. */
const shown = (text: string): string =>
  drawn(text)
    .replace(/^<div class="[^"]*">([^]*)<\/div>$/, '$1')
    .replaceAll(' dir="auto"', '');

describe('a text in Markdown', () => {
  it.each([
    ['# One\n\n## Two\n\nSub\n---', '<h3>One</h3><h4>Two</h4><h4>Sub</h4>'],
    ['a **b** _c_ ~~d~~ `e`', '<p>a <strong>b</strong> <em>c</em> <s>d</s> <code>e</code></p>'],
    ['- a\n- b\n  - c', '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>'],
    ['3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['> a  \n> b', '<blockquote><p>a<br/>b</p></blockquote>'],
    ['```js\na < b\n```', '<pre tabindex="0"><code>a &lt; b\n</code></pre>'],
    ['---', '<hr/>'],
    [
      '|a|b|\n|-|-|\n|1|2|',
      '<div tabindex="0"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>',
    ],
    ['[a](https://example.com)', '<p><a href="https://example.com" rel="noreferrer noopener">a</a></p>'],
    [
      'see https://example.com/ here',
      '<p>see <a href="https://example.com/" rel="noreferrer noopener">https://example.com/</a> here</p>',
    ],
    ['<me@example.com>', '<p><a href="mailto:me@example.com" rel="noreferrer noopener">me@example.com</a></p>'],
  ])('%j', (text, html) => expect(shown(text).replaceAll('\n<', '<')).toBe(html.replaceAll('\n<', '<')));
});

it('runs the way of the words of each of its blocks, and what is in one with it', () => {
  const text = '# א\n\nב\n\n- ג\n  - ד\n\n> ה\n\n|ו|\n|-|\n|ז|\n\n    code';
  const directed = [...drawn(text).matchAll(/<(\w+)[^>]* dir="auto"/g)].map(([, name]) => name);
  expect(directed).toEqual(['h3', 'p', 'ul', 'blockquote', 'div']);
});

describe('a hostile text', () => {
  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">a</a>',
    '<div id="source" style="position:fixed">over</div>',
    'a <b onclick="alert(1)">b</b> <!-- c -->',
  ])('has no HTML: %s', (text) => expect(shown(text)).not.toMatch(/<(?!\/?p>)/));

  it.each([
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt&colon;alert(1))',
    '[a](&#106;avascript:alert(1))',
    '[a](<java\tscript:alert(1)>)',
    '[a](vbscript:x)',
    '[a](data:text/html,<script>)',
    '[a](data:image/png;base64,AA)',
    '[a](file:///etc/passwd)',
    '[a](//example.com/)',
    '[a](/studio/tokens)',
    '[a](lib/say.ts)',
    '[a](#source)',
    '[a][b]\n\n[b]: javascript:alert(1)',
    'README.md and example.com',
  ])('leads nowhere: %s', (text) => expect(shown(text)).not.toMatch(/href|<a/));

  it.each(['![a](https://example.com/a.png)', '![a](data:image/png;base64,AA)', '![a][b]\n\n[b]: /a.png'])(
    'fetches no picture: %s',
    (text) => expect(shown(text)).toBe('<p>a</p>'),
  );

  it.each(['> ', '- ', '[', '*a_', '**a *b ', '|a', '`', '![', '<'])('ends, of many %j', (sign) => {
    const text = sign.repeat(20_000 / sign.length);
    expect(shown(text).length).toBeLessThan(20 * text.length);
  });
});
