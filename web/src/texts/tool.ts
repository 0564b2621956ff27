import type { ReactNode } from 'react';
import { plural } from './format';
import { rich } from './rich';

export const exportDialog = {
  exportAsATool: (name: string) => `Export ${name} as a tool`,
  exportAsAToolAbout: 'What a model or a workflow needs to call it: its name, its input and where it is.',
  notSaved: 'The draft is not saved yet, so it cannot be published.',
  noVersion: (name: string) =>
    `A tool points to a version, because a draft changes. ${name} has no version yet: publish it as 1.0.0 to export it.`,
  publishAndExport: 'Publish and export',
  version: 'Version',
  copyTheManifest: 'Copy the manifest',
  copy: 'Copy',
  downloadTheManifest: 'Download the manifest',
  download: 'Download',
  theManifest: 'the manifest',
  manifest: 'Manifest',
  manifestNotMade: (reason: string) => `The manifest could not be loaded. ${reason}`,
  notes: (n: number) => `${plural(n, { one: 'note', other: 'notes' })} on what this format cannot say`,
  notesOnThisFormat: 'Notes on this format',
  theLines: 'the lines that call it',
  linesNotMade: (reason: string) => `What it takes could not be loaded. ${reason}`,
  callItOverHttp: 'Call it over HTTP',
  callItFromATerminal: 'Call it from a terminal',
  everyCallNeedsAToken: (variable: ReactNode, command: ReactNode) =>
    rich`Every call needs a token in ${variable}; ${command} makes one.`,
  format: 'Format',
  downloadOne: (file: ReactNode) => rich`Download the manifest as ${file}.`,
  downloadBoth: (file: ReactNode, beside: ReactNode) =>
    rich`Download the manifest as ${file} and keep this beside it as ${beside}.`,
  howToUseIt: 'How to use it',
  copyLine: (label: string) => `Copy: ${label}`,
};

export const tryTool = {
  tryItAsATool: 'Try it as a tool',
  argumentsAsAModelWould: 'Arguments, as a model would write them',
  calling: 'Calling…',
  call: (name: string, version: string) => `Call ${name}@${version}`,
  answerOfTheTool: 'Answer of the tool',
  ended: (word: string, time: string, openTheRun: ReactNode) => rich`${word} in ${time}. ${openTheRun}`,
  openTheRun: 'Open the run',
  whatTheToolReturned: 'What the tool returned',
  theProgramDidNotSucceed: 'The program did not succeed.',
};

export const recipes = {
  typedClient: 'Generate a typed client',
  giveToModel: (library: string) => `Give it to a model, with the package ${library}`,
  makeTool: (library: string) => `Make a tool of it, with the package ${library}`,
  serve: (library: string) => `Serve it to any MCP client over stdio, with the package ${library}`,
};
