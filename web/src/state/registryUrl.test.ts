import { describe, expect, it } from 'vitest';
import { listedUrl, readListed, readRegistry, registryUrl } from './registryUrl';

describe('the state of the registry', () => {
  it('the address holds only non-default values', () => {
    expect(registryUrl({})).toBe('/registry');
    expect(readRegistry('')).toEqual({});
    const state = { search: 'a b&c', language: 'python', tag: 'x/y' } as const;
    const url = registryUrl(state);
    expect(url).toBe('/registry?q=a+b%26c&lang=python&tag=x/y');
    expect(readRegistry(url.slice(url.indexOf('?')))).toEqual(state);
  });

  it('ignores a language that there is not', () => {
    expect(readRegistry('?lang=cobol&q=&tag=')).toEqual({});
  });

  it('of an agent has the version and the file', () => {
    expect(listedUrl('acme', 'weather')).toBe('/registry/acme/weather');
    const state = { version: '1.0.0+b', file: 'lib/a b.ts' };
    const url = listedUrl('acme', 'weather', state);
    expect(readListed(url.slice(url.indexOf('?')))).toEqual(state);
    expect(readListed('?v=&file=')).toEqual({});
  });
});
