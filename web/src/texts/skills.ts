import type { ReactNode } from 'react';
import { plural } from './format';
import { rich } from './rich';

export const skillsPage = {
  pageTitle: 'Skills · Atelier',
  skills: 'Skills',
  name: 'Skill',
  version: 'Version',
  source: 'Source',
  actions: 'Actions',
  lead: 'A skill is an agent whose code is in a folder on this server. When a file in the folder changes, the server publishes a new version. Programs call a skill by its name.',
  watched: (directory: ReactNode) => rich`Skills folder: ${directory}`,
  theSkills: 'the skills',
  notLoaded: (reason: string) => `The skills could not be loaded. ${reason}`,
  noneYet: 'No skills yet.',
  makeAFolder: 'In a terminal on the server, make a folder with these files:',
  copyTheCommands: 'Copy the commands that make a skill',
  copyTheCall: 'Copy the call of a skill',
  exampleCommands: 'Commands that make a skill',
  exampleCall: 'POST /skills/execute\n{"skill": "greet",\n "args": {"name": "Ada"}}',
  /** Commands for a shell that write a whole skill into the watched folder. */
  example: (directory: string) =>
    `cd '${directory}'
mkdir greet && cd greet
cat > schema.json <<'END'
{
  "input": {
    "type": "object",
    "required": ["name"],
    "properties": {
      "name": {"type": "string"}
    }
  },
  "output": {"type": "object"}
}
END
cat > handler.py <<'END'
def greet(name):
    return {"text": "Hi " + name}
END
cat > skill.yaml <<'END'
name: greet
version: 1.0.0
description: Greets somebody.
handler: handler.greet
END
`,
  putItThere: (directory: ReactNode, command: ReactNode) =>
    rich`Atelier publishes each folder in ${directory} at once and lists it here. Install a folder from elsewhere with ${command}.`,
  callIt: 'Open the skill here like any other agent, or call it by its name:',
  copyTheFolder: 'Copy the path of the watched folder',
  broken: (n: number) =>
    `${plural(n, { one: 'folder is', other: 'folders are' })} broken. The version installed before still runs.`,
  aDraftWaits: 'draft waiting',
  notInstalled: 'not installed',
  builtIn: 'built in',
  folder: 'folder',
  archive: 'archive',
  fetched: 'fetched',
  from: (origin: string, source: string) => `${origin} from ${source}`,
  createdByAClient: 'created by a client',
  registeredByAClient: 'registered by a client',
  fromTheRegistry: 'from the registry',
  itsFolderIsGone: 'its folder is gone',
  copyTheDigestOf: (name: string) => `Copy the digest of ${name}`,
  promote: (name: string) => `Promote ${name}`,
  promoted: (name: string) => `Promoted ${name}`,
  promoteButton: 'Promote',
  uninstall: (name: string) => `Uninstall ${name}`,
  uninstallButton: 'Uninstall',
};

export const uninstallDialog = {
  uninstalled: (name: string) => `Uninstalled ${name}`,
  uninstall: (name: string) => `Uninstall ${name}?`,
  uninstallAbout:
    'Callers get an error from now on. Its versions and runs are kept, and installing it by name restores it.',
  uninstallAllTheSame: 'Uninstall anyway',
  verb: 'Uninstall',
  references: 'its references',
  nobodyIsRegisteredAsUsing: 'No program references it.',
  notRead: (reason: string) => `Its references could not be loaded. ${reason}`,
  others: 'Other programs reference it and would fail. Update them first, or uninstall it anyway.',
};
