import { describe, expect, it } from 'vitest';
import { ago, bytes, form, milliseconds, moment, number, plural, seconds, sentence, withControls } from './format';

const runs = { one: 'run', other: 'runs' };

describe('figures', () => {
  it.each([
    [0.123, '0.12 ms'],
    [1.26, '1.3 ms'],
    [812.4, '812 ms'],
    [1234, '1.23 s'],
    [12_345, '12.3 s'],
    [30_000, '30 s'],
    [60_000, '1 min'],
    [125_000, '2 min 5 s'],
    [119_700, '2 min'],
  ])('%d milliseconds', (ms, text) => expect(milliseconds(ms)).toBe(text));
  it.each([
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [1536, '1.5 KiB'],
    [1_047_552, '1023 KiB'],
    [1_048_575, '1 MiB'],
    [2 ** 30 - 1, '1 GiB'],
    [10.4 * 1024 ** 2, '10 MiB'],
    [2 * 1024 ** 3, '2 GiB'],
  ])('%d bytes', (n, text) => expect(bytes(n)).toBe(text));
  it('are counted in words', () => {
    expect([0, 1, 2, 1000].map((n) => plural(n, runs))).toEqual(['0 runs', '1 run', '2 runs', '1,000 runs']);
    expect(form(1, { other: 'sheep' })).toBe('sheep');
    expect(number(100_000)).toBe('100,000');
    expect(seconds(2512)).toBe('2.5 s');
  });
});

describe('times', () => {
  const then = '2026-03-04T05:06:07Z';
  it.each([
    [59, 'just now'],
    [60, '1 min ago'],
    [3600, '1 h ago'],
    [86_400, '1 d ago'],
    [30 * 86_400, '2026-03-04'],
  ])('%d seconds later', (later, text) => expect(ago(then, Date.parse(then) + later * 1000)).toBe(text));
  it('that are none are not shown', () => expect(ago('', 0)).toBe(''));
  it('have days that are written one way', () => expect(moment(then)).toMatch(/^2026-03-0[345] \d\d:\d6$/));
});

it('ends a sentence with one stop', () => {
  expect(['Needs lang', 'Needs lang.', 'Why? '].map(sentence)).toEqual(['Needs lang.', 'Needs lang.', 'Why?']);
});

it('shows controls that reverse the direction of a text', () => {
  expect(withControls('\u202Elive\u2069')).toBe('[U+202E]live[U+2069]');
  expect(withControls('שלום')).toBe('שלום');
});
