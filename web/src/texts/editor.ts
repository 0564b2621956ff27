export const codeEditor = {
  readOnly: (path: string) => `Code editor, ${path}, read only`,
  waysOut: (path: string) => `Code editor, ${path}, press Control M then Tab to leave`,
};

export const python = {
  cannotBeRenamed: 'This cannot be renamed.',
};

export const shell = {
  notFormatted: (line: number, message: string) => `Not formatted, line ${line}: ${message}`,
};

const modes: Record<string, string> = {
  normal: 'Normal',
  insert: 'Insert',
  replace: 'Replace',
  visual: 'Visual',
  'visual linewise': 'Visual, lines',
  'visual blockwise': 'Visual, block',
};

export const vim = {
  mode: 'Vim mode',
  modes,
  command: 'Vim command',
  search: 'Search with Vim',
  notLoaded: 'The Vim key bindings could not be loaded. Select them again in the editor settings.',
};
