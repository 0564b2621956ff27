import { expect, test } from 'vitest';
import { initialsOf } from './Avatar';

test.each([
  ['Ada Lovelace', 'AL'],
  ['Administrator', 'A'],
  ['grace.hopper@example.com', 'GC'],
  ['Ada King Lovelace', 'AL'],
  ['👩‍🚀 Sally', '👩‍🚀S'],
  ['', ''],
])('the initials of %j are %j', (name, initials) => expect(initialsOf(name)).toBe(initials));
