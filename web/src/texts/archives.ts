import type { ReactNode } from 'react';
import { form, plural } from './format';
import { rich } from './rich';

export const importDialog = {
  importAnArchive: 'Import an archive',
  importAnArchiveAbout:
    'Agents with all their versions, from an archive that was exported. Existing agents stay unchanged.',
  listAgainInThePublic: 'List registry agents again',
  listAgainInThePublicHint: 'Every workspace of this server can then read and copy these agents.',
  anotherFile: 'Choose another file',
  import: 'Import',
  orDropItHere: (chooseAnArchive: ReactNode) => rich`${chooseAnArchive}, or drop it here`,
  chooseAnArchive: 'Choose an archive',
  aTarGzFile: 'A .tar.gz file of up to 256 MiB',
  checking: 'Checking',
  importing: 'Importing',
  sendingOf: (name: string, sent: string, size: string) => `Sending ${name}, ${sent} of ${size}`,
  agentsOfTheArchive: 'Agents in the archive',
  versionsAdded: (n: number) => `${plural(n, { one: 'version', other: 'versions' })} added`,
  thereAlready: (kept: number) => `${kept} already there`,
  formerNames: (n: number) => plural(n, { one: 'former name', other: 'former names' }),
};

const hereAlready = (n: number): string =>
  n === 0 ? '' : `; ${n} ${form(n, { one: 'was', other: 'were' })} already here`;

export const outcome = {
  isNew: 'is new',
  made: 'created',
  willBeRestored: 'will be restored',
  wasRestored: 'restored',
  getsVersions: 'gets new versions',
  gotVersions: 'got new versions',
  isHereAlready: 'is already here',
  leftAsItIs: 'left unchanged',
  refused: 'was refused, and nothing was imported.',
  brokenOff:
    'was only partly imported. Agents that were here may have some of its versions; import it again to finish.',
  empty: 'The archive is valid, but holds no agents.',
  nothingToImport: (n: number) =>
    `Nothing to import: ${plural(n, { one: 'agent', other: 'agents' })} in the archive, all already here.`,
  agents: (agents: number, versions: number) =>
    plural(agents, { one: 'agent', other: 'agents' }) +
    (versions === 0 ? '' : ` with ${plural(versions, { one: 'version', other: 'versions' })}`),
  imported: (what: string, here: number) => `Imported ${what}${hereAlready(here)}.`,
  wouldImport: (what: string, here: number) => `The archive is valid. Importing adds ${what}${hereAlready(here)}.`,
};
