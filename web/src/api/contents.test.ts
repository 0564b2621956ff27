import { describe, expect, it } from 'vitest';
import { bytesOf, pictureOf, readUpload } from './contents';

describe('a file from the disk', () => {
  it.each<[string, number[], unknown]>([
    ['is text', [0x68, 0xc3, 0xa9], 'hé'],
    ['is empty text', [], ''],
    ['is no text with a NUL', [0x68, 0], { base64: 'aAA=' }],
    ['is no text that is not UTF-8', [0xff, 0xfe], { base64: '//4=' }],
  ])('%s', async (_, bytes, want) => {
    const content = await readUpload(new File([Uint8Array.from(bytes)], 'a'));
    expect(content).toEqual(want);
    expect([...bytesOf(content)]).toEqual(bytes);
  });

  it('is a picture only in formats without scripts', () => {
    expect(pictureOf('a.PNG', { base64: 'AA==' })).toBe('data:image/png;base64,AA==');
    expect(pictureOf('a.svg', { base64: 'AA==' })).toBeUndefined();
  });
});
