import { browserNames as say } from '../../texts/access';

const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];

/**
 * Returns the name of a browser from its user agent. The order of the checks matters, because most user agents also
 * contain the names of other browsers.
 */
export function browserName(agent: string): string {
  const of = (names: typeof browsers): string | undefined => names.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = of(browsers);
  if (browser === undefined) return agent === '' ? say.unknown : agent.slice(0, 60);
  const system = of(systems);
  return system === undefined ? browser : say.on(browser, system);
}
