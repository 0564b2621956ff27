export const changes = {
  schemas: 'Schemas',
  capabilities: 'Capabilities',
  limits: 'Limits',
  settings: 'Settings',
  nothingDiffers: 'Nothing differs.',
  schemasAsJson: 'Schemas as JSON',
  whatChanged: 'What changed',
  changesOf: (title: string) => `Changes of ${title}`,
  field: 'Field',
  none: 'none',
};

export const compareDialog = {
  compare: (name: string) => `Compare ${name}`,
  from: 'From',
  to: 'To',
  swap: 'Swap',
  comparing: 'Comparing…',
  notCompared: (reason: string) => `They could not be compared. ${reason}`,
  theDraft: 'The draft',
  same: 'They say and do the same.',
  aChange: (bump: string) => `A ${bump} change.`,
  aChangeTo: (bump: string, version: string) => `A ${bump} change: the next version is ${version}.`,
};

export const fileChange = {
  lines: 'Lines',
  sideBySide: 'Side by side',
  inline: 'Inline',
  showAs: (path: string) => `Show ${path} as`,
  itIsNotText: 'It is not text.',
  emptyOrTooLarge: 'It is empty, or too large to compare line by line.',
  changesOf: (path: string) => `Changes of ${path}`,
  notLoaded: (reason: string) => `The file could not be loaded. ${reason}`,
  loading: 'Loading…',
};

export const textDiff = {
  changesOf: (path: string) => `Changes of ${path}`,
};
