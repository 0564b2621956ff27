// Translates a JSON pointer of the server to the label of the field in the Studio.
import { tokens } from '../schema/pointer';
import { limits, networkSection, runtimeSection, schemaSection, secretsSection } from '../texts/config';
import type { Fields } from './openAgent';
import { limitFields } from './limits';

type Known = Pick<Fields, 'capabilities' | 'secrets'>;

export function fieldLabel(pointer: string, { capabilities, secrets }: Known): string {
  const [part = '', key, ...below] = tokens(pointer);
  const own = key === undefined ? undefined : owns[part]?.(key);
  if (own !== undefined) return own;
  if (pointer.startsWith('/capabilities/hosts'))
    return capabilities.hosts[Number(below[0] ?? Number.NaN)] ?? networkSection.network;
  if (part === 'secrets') return secrets[Number(key ?? Number.NaN)] ?? secretsSection.secrets;
  const label = labels[part];
  if (label === undefined) return pointer.slice(1);
  return key === undefined ? label : `${label}: ${[key, ...below].join('/')}`;
}

// Fields whose label is their own name.
const owns: Record<string, (key: string) => string | undefined> = {
  files: (path) => path,
  environment: (name) => name,
  limits: (key) => {
    const field = limitFields.find((f) => f.key === key);
    return field && limits.named(field.label);
  },
};

const labels: Record<string, string> = {
  entrypoint: runtimeSection.entrypoint,
  runtime: runtimeSection.runtime,
  isolation: runtimeSection.isolationOfRuns,
  inputSchema: schemaSection.inputSchema,
  outputSchema: schemaSection.outputSchema,
};
