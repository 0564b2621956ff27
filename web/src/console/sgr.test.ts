import { describe, expect, it } from 'vitest';
import { endStyle, parseLine, plainText } from './sgr';

const e = '\u001b';

describe('parseLine', () => {
  const cases: Record<string, { line: string; want: unknown }> = {
    'plain text is one span': { line: 'hello', want: [{ text: 'hello', style: {} }] },
    'a colour and its reset': {
      line: `${e}[31mred${e}[0m!`,
      want: [
        { text: 'red', style: { fg: 'var(--ansi-red)' } },
        { text: '!', style: {} },
      ],
    },
    'bold and bright at once': {
      line: `${e}[1;92mok`,
      want: [{ text: 'ok', style: { bold: true, fg: 'var(--ansi-green)' } }],
    },
    'bold ends, colour stays': {
      line: `${e}[1;31ma${e}[22mb`,
      want: [
        { text: 'a', style: { bold: true, fg: 'var(--ansi-red)' } },
        { text: 'b', style: { fg: 'var(--ansi-red)' } },
      ],
    },
    '256 colours': { line: `${e}[38;5;196mx`, want: [{ text: 'x', style: { fg: 'rgb(255 0 0)' } }] },
    'true colour with colons': { line: `${e}[38:2:1:2:3mx`, want: [{ text: 'x', style: { fg: 'rgb(1 2 3)' } }] },
    'other escapes vanish': {
      line: `a${e}[2Kb${e}]8;;http://x${e}\\c${e}[?25l`,
      want: [
        { text: 'a', style: {} },
        { text: 'b', style: {} },
        { text: 'c', style: {} },
      ],
    },
    'an unfinished escape vanishes': { line: `a${e}`, want: [{ text: 'a', style: {} }] },
    'markup is text': { line: '<img src=x>', want: [{ text: '<img src=x>', style: {} }] },
    'tabs stay': { line: 'a\tb', want: [{ text: 'a\tb', style: {} }] },
  };
  for (const [name, { line, want }] of Object.entries(cases)) {
    it(name, () => {
      expect(parseLine(line).spans).toEqual(want);
    });
  }

  it('carries the style into the next line', () => {
    const { end } = parseLine(`${e}[31mred`);
    expect(parseLine('still red', end).spans).toEqual([{ text: 'still red', style: { fg: 'var(--ansi-red)' } }]);
  });
});

describe('endStyle', () => {
  for (const line of [
    'plain',
    `${e}[31mred`,
    `${e}[31mred${e}[0m`,
    `${e}[31mred${e}[m end`,
    `${e}[31mred${e}[2K`,
    `${e}[1;31m`,
  ]) {
    it(`agrees with parseLine on ${JSON.stringify(line)}`, () => {
      expect(endStyle(line, { bold: true })).toEqual(parseLine(line, { bold: true }).end);
    });
  }
});

describe('plainText', () => {
  it('has no escapes', () => {
    expect(plainText(`${e}[1;31mred${e}[0m done`)).toBe('red done');
  });
});
