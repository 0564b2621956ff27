import { expect, test } from 'vitest';
import type { SetTool } from '../../api/types';
import { mayUpdate, toolStateOf, updated } from './toolState';

const tool = (name: string, more: Partial<SetTool> = {}): SetTool => ({
  agentId: name,
  name,
  version: '1.0.0',
  digest: 'sha256:0',
  ...more,
});

test('an update takes the newest versions and successors, and leaves deleted tools out', () => {
  const tools = [
    tool('current'),
    tool('old', { newest: '1.2.0' }),
    tool('bad', { deprecated: true, newest: '2.0.0' }),
    tool('replaced', { deprecated: true, newest: '1.1.0', successor: 'current@1.0.0' }),
    tool('gone', { missing: true }),
  ];
  expect(updated(tools)).toEqual(['current@1.0.0', 'old@1.2.0', 'bad@2.0.0']);
  expect(tools.map(toolStateOf)).toEqual(['newest', 'outdated', 'deprecated', 'deprecated', 'missing']);
});

test('an update names each agent once', () => {
  const tools = [
    tool('replaced', { deprecated: true, successor: 'good@2.0.0' }),
    tool('good', { newest: '2.1.0' }),
    tool('older', { deprecated: true, successor: 'other@1.0.0' }),
    tool('oldest', { deprecated: true, successor: 'other@1.0.0' }),
  ];
  expect(updated(tools)).toEqual(['good@2.1.0', 'other@1.0.0']);
});

test('a set that an update would not change offers none', () => {
  expect(mayUpdate([tool('bad', { deprecated: true }), tool('current')])).toBe(false);
  expect(mayUpdate([tool('old', { newest: '1.1.0' })])).toBe(true);
  expect(mayUpdate([tool('current'), tool('gone', { missing: true })])).toBe(true);
});
