import { expect, test } from 'vitest';
import { annotate } from './annotate';

const typeOf = (name: string, first: boolean): string => `${first ? 'F' : 'T'}_${name}`;
const show = (text: string): string => annotate(text, typeOf);
const comment = (types: string): string => `  # type: (${types}) -> agent_types.Anything`;

test.each([
  ['def main(input, ctx):', 'F_input, T_ctx'],
  ['async def main(input):', 'F_input'],
  ['def main(city, days=3, *, unit=f(1, 2)):', 'F_city, T_days, T_unit'],
  ['def main(input, /, *rest, **more):', 'F_input, *T_rest, **T_more'],
  ['def main(\n    input,  # ): the whole\n    ctx=",)",\n):', 'F_input, T_ctx'],
  ["def main(a='\\'', b=[1, 2]) :", 'F_a, T_b'],
])('a comment stands behind %s', (signature, types) => {
  const text = `import os\n\n${signature}\n    return 1\n`;
  expect(show(text)).toBe(`import os\n\n${signature}${comment(types)}\n    return 1\n`);
});

test('a comment that is there stays behind the new one', () => {
  expect(show('def main(input):  # the entry\n    pass\n')).toBe(
    `def main(input):  ${comment('F_input')}# the entry\n    pass\n`,
  );
});

test.each([
  'def main(input: dict, ctx):\n    pass\n',
  'def main(input) -> dict:\n    pass\n',
  'def main(input): return input\n',
  'def main():\n    pass\n',
  'def main(input, ctx',
  '    def main(input):\n        pass\n',
  'def mainly(input):\n    pass\n',
  '',
])('nothing is added to %j', (text) => {
  expect(show(text)).toBe(text);
});
