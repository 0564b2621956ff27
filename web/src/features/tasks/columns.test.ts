import { expect, test } from 'vitest';
import type { Task } from '../../api/types';
import { columnsOf, moving } from './columns';

const task = (id: string, status: Task['status'], revision: number, createdAt: string): Task => ({
  id,
  status,
  revision,
  createdAt,
  agent: 'a',
  agentId: 'a',
  attempt: 1,
  creator: { id: 'u', type: 'user', name: 'Ada', workspace: 'default' },
  feedback: '',
  files: 0,
  input: {},
  priority: 5,
  project: 'p',
  queuedAt: createdAt,
  resumed: false,
  summary: '',
  title: id,
  updatedAt: createdAt,
  version: '1.0.0',
});

test('each task is in one column, in its newest revision, newest first', () => {
  const columns = columnsOf([
    task('one', 'queued', 1, '2026-01-01T00:00:00Z'),
    task('one', 'executing', 3, '2026-01-01T00:00:00Z'),
    task('two', 'spawning', 2, '2026-01-02T00:00:00Z'),
    task('three', 'rejected', 6, '2026-01-01T00:00:00Z'),
    task('three', 'reviewing', 5, '2026-01-01T00:00:00Z'),
  ]);
  expect(columns.working.map(({ id }) => id)).toEqual(['two', 'one']);
  expect(columns.decided.map(({ id }) => id)).toEqual(['three']);
  expect([columns.queued, columns.reviewing, columns.errored]).toEqual([[], [], []]);
});

test('a task moves until a person decides', () => {
  expect([moving('queued'), moving('submitting'), moving('reviewing'), moving('errored')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
