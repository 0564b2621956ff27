import { expect, test } from 'vitest';
import { secretNameFault } from './secretNames';

test('a secret name holds letters, digits and underscores', () => {
  expect(secretNameFault('API_KEY')).toBeUndefined();
  for (const name of ['', '1A', 'a-b', 'x'.repeat(65)]) expect(secretNameFault(name)).toContain('letters');
});
