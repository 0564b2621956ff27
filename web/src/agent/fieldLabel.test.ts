import { expect, it } from 'vitest';
import { fieldLabel } from './fieldLabel';

const draft = {
  capabilities: { hosts: ['https://api.example.com'], hostFunctions: [], subprocess: false },
  secrets: ['API_KEY'],
};

it.each([
  ['/capabilities/hosts/0', 'https://api.example.com'],
  ['/capabilities/hosts/7', 'Network'],
  ['/capabilities/hosts', 'Network'],
  ['/secrets/0', 'API_KEY'],
  ['/files/lib~1util.ts', 'lib/util.ts'],
  ['/files', 'files'],
  ['/environment/PATH', 'PATH'],
  ['/limits/timeoutMs', 'the limit “Timeout”'],
  ['/limits/other', 'limits/other'],
  ['/isolation', 'Run isolation'],
  ['/inputSchema/properties/a', 'Input schema: properties/a'],
  ['/title', 'title'],
])('%s is %s', (pointer, subject) => expect(fieldLabel(pointer, draft)).toBe(subject));
