import type { ReactNode } from 'react';
import { form, plural } from './format';
import { rich } from './rich';

export const importDialog = {
  importAnArchive: 'Import an archive',
  importAnArchiveAbout: 'Agents with all their versions, as Export wrote them. What is here already stays as it is.',
  listAgainInThePublic: 'List again in the public registry what was listed there',
  listAgainInThePublicHint: 'Every workspace of this server can then read and copy it.',
  anotherFile: 'Another file',
  import: 'Import',
  orDropItHere: (chooseAnArchive: ReactNode) => rich`${chooseAnArchive}, or drop it here`,
  chooseAnArchive: 'Choose an archive',
  aTarGzFile: 'A .tar.gz file of up to 256 MiB',
  checking: 'Checking',
  importing: 'Importing',
  sendingOf: (name: string, sent: string, size: string) => `Sending ${name}, ${sent} of ${size}`,
  agentsOfTheArchive: 'Agents of the archive',
  versionsAdded: (n: number) => `${plural(n, { one: 'version', other: 'versions' })} added`,
  thereAlready: (kept: number) => `${kept} there already`,
  formerNames: (n: number) => plural(n, { one: 'former name', other: 'former names' }),
};

const hereAlready = (n: number): string =>
  n === 0 ? '' : `; ${n} ${form(n, { one: 'was', other: 'were' })} here already`;

export const outcome = {
  isNew: 'is new',
  made: 'made',
  comesBack: 'comes back',
  broughtBack: 'brought back',
  getsVersions: 'gets versions',
  gotVersions: 'got versions',
  isHereAlready: 'is here already',
  leftAsItIs: 'left as it is',
  refused: 'was refused, and nothing was written.',
  brokenOff:
    'was not imported to its end. Agents that were here may have got versions of it; import it again to go on.',
  empty: 'The archive is in order, and holds no agent.',
  nothingToImport: (n: number) =>
    `Nothing to import: ${plural(n, { one: 'agent', other: 'agents' })} of the archive, all here already.`,
  agents: (agents: number, versions: number) =>
    plural(agents, { one: 'agent', other: 'agents' }) +
    (versions === 0 ? '' : ` with ${plural(versions, { one: 'version', other: 'versions' })}`),
  imported: (what: string, here: number) => `Imported ${what}${hereAlready(here)}.`,
  wouldImport: (what: string, here: number) => `The archive is in order. Importing brings ${what}${hereAlready(here)}.`,
};
