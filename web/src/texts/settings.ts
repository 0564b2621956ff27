export const settingsPage = {
  pageTitle: (section: string | undefined) => `${section === undefined ? '' : `${section} · `}Settings · Atelier`,
  settings: 'Settings',
  sectionsOfTheSettings: 'Sections of the settings',
  sections: { appearance: 'Appearance', editor: 'Editor', about: 'About and licences' },
  tokens: 'Tokens',
  noSuchSection: 'The settings have no such section.',
};

export const appearance = {
  about: 'The theme holds at once, in this browser. System follows what the machine is set to.',
  theme: 'Theme',
  themes: { system: 'System', dark: 'Dark', light: 'Light' },
};

export const about = {
  theVersion: 'the version',
  notLoaded: (reason: string) => `The version could not be asked. ${reason}`,
  version: (version: string) => `Atelier ${version}`,
  licences: 'The Studio asks nothing of any other host. The notices name what it is built from, each with its licence.',
  thirdPartyNotices: 'Third-party notices',
  theApi: 'The API',
};
