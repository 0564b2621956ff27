import { expect, test } from 'vitest';
import { declaredBy } from './usedBy';

const at = (agent: string) => ({ agentId: agent, agent, version: '1.0.0' });

test('the versions that declare a secret are listed, at most four by name', () => {
  expect(declaredBy([])).toBe('No version declares it');
  expect(declaredBy([at('a')])).toBe('Declared by a@1.0.0');
  expect(declaredBy(['a', 'b', 'c', 'd', 'e', 'f'].map(at))).toBe(
    'Declared by a@1.0.0, b@1.0.0, c@1.0.0, d@1.0.0 and 2 more',
  );
});
