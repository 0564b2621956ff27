export const settingsPage = {
  pageTitle: (section: string | undefined) => `${section === undefined ? '' : `${section} · `}Settings · Atelier`,
  settings: 'Settings',
  sectionsOfTheSettings: 'Sections of the settings',
  sections: { appearance: 'Appearance', keys: 'Keys', editor: 'Editor', about: 'About' },
  tokens: 'Tokens',
  noSuchSection: 'Settings section not found.',
};

export const appearance = {
  about: 'The theme applies at once, in this browser only. System follows your operating system.',
  theme: 'Theme',
  themes: { system: 'System', dark: 'Dark', light: 'Light' },
};

export const keysOfCommands = {
  about:
    'Choose other keys for a command: keys held together, or two letters one after the other, such as g s. They apply at once, in this browser only. Escape cancels.',
  filter: 'Filter the commands',
  placeholder: 'Command or keys, such as Ctrl+S',
  nothingMatches: 'No command matches.',
  change: 'Change',
  changeKeysOf: (title: string) => `Change the keys of ${title}`,
  pressKeys: 'Press the keys',
  thenPress: (first: string) => `${first}, then a letter or digit`,
  pressKeysFor: (title: string) => `Press the keys for ${title}`,
  thenPressFor: (first: string, title: string) => `${first}, then a letter or digit for ${title}`,
  reset: 'Reset',
  resetKeysOf: (title: string) => `Reset the keys of ${title}`,
  resetAll: 'Reset all keys',
  taken: (keys: string, title: string) => `${keys} already runs “${title}”. Choose other keys, or change those first.`,
  notThese:
    'These keys cannot be used: they type text, or the browser needs them. Hold Ctrl or Alt, use a function key, or press two letters one after the other.',
  notAfter: (first: string) => `After ${first}, press a letter or a digit on its own.`,
};

export const about = {
  theVersion: 'the version',
  notLoaded: (reason: string) => `The version could not be loaded. ${reason}`,
  version: (version: string) => `Atelier ${version}`,
  lead: 'This page comes from your own server. The Studio makes no requests to other hosts.',
  versionName: 'Version',
  copyVersion: 'Copy the version',
  address: 'Server',
  copyAddress: 'Copy the address of the server',
  sandbox: 'Sandbox',
  levels: { full: 'Full: every protection is in place', reduced: 'Reduced', none: 'None' },
  documentation: 'Documentation',
  licences: 'Licences',
  thirdPartyNotices: 'Third-party notices',
  theApi: 'The API',
};
