import { expect, test } from 'vitest';
import { agentTypes } from './declarations';

test('variables and secrets are strings of ctx.env', () => {
  const { typescript, python } = agentTypes(true, true, ['UNITS', 'API_KEY']);
  expect(typescript).toContain(
    'interface Environment {\n  readonly "UNITS": string;\n  readonly "API_KEY": string;\n}',
  );
  expect(python).toContain('API_KEY: str');
});
