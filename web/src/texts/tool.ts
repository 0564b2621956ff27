import type { ReactNode } from 'react';
import { plural } from './format';
import { rich } from './rich';

export const exportDialog = {
  exportAsATool: (name: string) => `Export ${name} as a tool`,
  exportAsAToolAbout: 'The manifest for a model or a workflow: name, input and address.',
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
  notes: (n: number) => plural(n, { one: 'warning', other: 'warnings' }),
  notesOnThisFormat: 'Notes on this format',
  theLines: 'the lines that call it',
  linesNotMade: (reason: string) => `Its input schema could not be loaded. ${reason}`,
  callItOverHttp: 'Call it over HTTP',
  callItFromATerminal: 'Call it from a terminal',
  everyCallNeedsAToken: (variable: ReactNode, command: ReactNode) =>
    rich`Every call needs a token in ${variable}; ${command} creates one.`,
  format: 'Format',
  downloadOne: (file: ReactNode) => rich`Download the manifest as ${file}.`,
  downloadBoth: (file: ReactNode, program: ReactNode) =>
    rich`Download the manifest as ${file} and store this next to it as ${program}.`,
  nameAModel: (variable: ReactNode) => rich`Programs that call a model read its name from ${variable}.`,
  howToUseIt: 'How to use it',
  copyLine: (label: string) => `Copy: ${label}`,
};

export const tryTool = {
  tryItAsATool: 'Try it as a tool',
  argumentsAsAModelWould: 'Arguments, as a model would write them',
  calling: 'Calling…',
  call: (name: string, version: string) => `Call ${name}@${version}`,
  answerOfTheTool: 'Answer of the tool',
  ended: (word: string, time: string, openTheRun: ReactNode) => rich`${word} · ${time}. ${openTheRun}`,
  openTheRun: 'Open the run',
  whatTheToolReturned: 'Output of the tool',
  theProgramDidNotSucceed: 'The program failed.',
};

export const recipes = {
  typedClient: 'Generate a typed client',
  inJavaScript: (label: string) => `${label}, in JavaScript`,
  inPython: (label: string) => `${label}, in Python`,
  giveToResponses: (library: string) => `Give it to a model through the Responses API, with the package ${library}`,
  giveToModel: (library: string) => `Give it to a model, with the package ${library}`,
  makeTool: (library: string) => `Make a tool of it, with the package ${library}`,
  serve: (library: string) => `Serve it to any MCP client over stdio, with the package ${library}`,
};
