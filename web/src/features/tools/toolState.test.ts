import { expect, test } from 'vitest';
import type { SetTool } from '../../api/types';
import { toolStateOf, updated } from './toolState';

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
