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

export const formatter = {
  notFormatted: (line: number | undefined, message: string) =>
    line === undefined ? `Not formatted: ${message}` : `Not formatted, line ${line}: ${message}`,
  notLoaded: 'The formatter could not be loaded. Try again when the server answers.',
  tookTooLong: 'It took too long.',
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
