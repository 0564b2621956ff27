// Defines the paths of the editor models for schemas. Because of their suffix, the JSON service completes schema
// keywords.
import type { Tab } from '../state/urlState';
import { schema } from '../texts/files';

export const schemaPaths = { input: '.atelier/input.schema.json', output: '.atelier/output.schema.json' };

export const pathOf = (tab: Tab): string => (tab.kind === 'file' ? tab.path : schemaPaths[tab.which]);

export function tabOf(path: string): Tab {
  if (path === schemaPaths.input) return { kind: 'schema', which: 'input' };
  return path === schemaPaths.output ? { kind: 'schema', which: 'output' } : { kind: 'file', path };
}

/** Returns the label of a tab with the given path. */
export function titleOf(path: string): string {
  const tab = tabOf(path);
  return tab.kind === 'file' ? path : schema(tab.which);
}
