import { expect, test } from 'vitest';
import { archiveTypeOf } from './projects';

test('an archive has its media type by its name', () => {
  expect(archiveTypeOf('shop.zip')).toBe('application/zip');
  expect(archiveTypeOf('shop.TAR')).toBe('application/x-tar');
  expect(archiveTypeOf('shop.bundle')).toBe('application/x-git-bundle');
  expect(archiveTypeOf('shop.tar.gz')).toBe('application/gzip');
  expect(archiveTypeOf('shop.tgz')).toBe('application/gzip');
});
