import type { ReactNode } from 'react';
import { bytes, number, plural } from './format';
import { rich } from './rich';

export const packagesPage = {
  pageTitle: 'Packages · Atelier',
  packages: 'Packages',
  lead: 'Packages that are installed for programs of this workspace. Programs with the same exact versions share one installation.',
  total: (installations: number, size: number) =>
    `${plural(installations, { one: 'installation', other: 'installations' })}, ${bytes(size)}`,
  thePackages: 'the installed packages',
  notLoaded: (reason: string) => `The installed packages could not be loaded. ${reason}`,
  noneYet: 'No package is installed.',
  nameThem: (field: ReactNode, example: ReactNode) =>
    rich`Name packages in the section ${field} of an agent, one per line, such as ${example}.`,
  runIt: 'Run the agent. The first run installs the packages and shows the progress; later runs start at once.',
  seeThem: 'This page then shows their versions, sizes and licences, and which versions of agents use them.',
  openAgents: 'Open the agents',
  field: 'Packages',
  installing: {
    waiting: 'Waiting for another installation',
    downloading: 'Downloading',
    building: 'Building from source',
    unpacking: 'Unpacking',
  },
  progress: (step: string, done: number, total: number) => `${step}: ${number(done)} of ${number(total)} packages`,
  installations: 'Installations',
  ecosystems: { pypi: 'Python', npm: 'npm' },
  language: 'Kind',
  size: 'Size',
  usedBy: 'Used by',
  lastUse: 'Last use',
  noVersion: 'No version has these packages',
  more: (n: number) => `and ${number(n)} more`,
  licence: (name: string, version: string, licence: string) => `${name} ${version}: ${licence}`,
  unknownLicence: 'licence unknown',
  licences: 'Licences',
  cleanUp: 'Clean up…',
};

export const cleanUpDialog = {
  title: 'Remove unused packages',
  about:
    'Removes installations that no version has, and archives that no installation has. A later run installs them again.',
  unused: 'Not used for',
  spans: { 1: '1 hour', 24: '1 day', 168: '7 days', 720: '30 days', 2160: '90 days' },
  verb: 'Remove',
  candidates: 'the unused packages',
  notLoaded: (reason: string) => `The unused packages could not be listed. ${reason}`,
  nothing: 'Everything was used in this time.',
  wouldFree: (size: number) => `Removing these frees ${bytes(size)}.`,
  items: 'Items to remove',
  installation: (packages: string[]) => packages.join(', '),
  archive: (digest: string) => `Archive ${digest.slice(0, 19)}`,
  size: (n: number) => bytes(n),
  done: (size: number) => `Freed ${bytes(size)}`,
};
