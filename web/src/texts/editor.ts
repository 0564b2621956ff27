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
