import { expect, test } from 'vitest';
import { browserName } from './browserName';

test('a browser is named by what tells it from those it claims to be', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  expect(browserName(`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/140.0 Safari/537.36 Edg/140.0`)).toBe(
    'Edge on Windows',
  );
  expect(browserName(`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/140.0 Safari/537.36`)).toBe('Chrome on Linux');
  expect(browserName('Mozilla/5.0 (Macintosh; Intel Mac OS X 15.0; rv:140.0) Firefox/140.0')).toBe('Firefox on macOS');
  expect(browserName('curl/8.5.0')).toBe('curl/8.5.0');
  expect(browserName('')).toBe('An unknown browser');
});
