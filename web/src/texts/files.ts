import { bytes, form, number, plural } from './format';

/** What a person calls a schema where it stands among files. */
export const schema = (which: 'input' | 'output'): string =>
  ({ input: 'Input schema', output: 'Output schema' })[which];

export const binaryView = {
  isBinary: (name: string, size: number) => `${name} is binary, ${bytes(size)}. The program finds it beside its code.`,
  download: 'Download',
  replace: 'Replace…',
  replaceNamed: (path: string) => `Replace ${path}`,
};

export const editorPane = {
  notLoaded: 'The editor could not be loaded.',
  noFormatter: 'There is no formatter for this language.',
  notSavedUntilMended: (message: string) => `${message} The draft is not saved until it is mended.`,
  lastValidIsKept: (message: string) => `${message} The last valid schema is kept.`,
};

export const editorSettings = {
  editorSettings: 'Editor settings',
  about: 'They apply at once, in this browser only.',
  fontSize: 'Font size',
  fontSizeHint: (min: number, max: number) => `${number(min)} to ${number(max)} pixels`,
  indentation: 'Indentation',
  byLanguage: 'By language',
  spaces: (n: number) => plural(n, { one: 'space', other: 'spaces' }),
  keys: 'Key bindings',
  keysOf: { own: 'Default', vim: 'Vim' },
  keysHint: 'The keys of the Studio come first: those that run, save and leave the editor.',
  wrapLongLines: 'Wrap long lines',
  overview: 'Overview of the file at its edge',
  python: 'Language service for Python',
  pythonHint: 'Completion and type checks in this page. It takes about 290 MB of memory while a Python file is open.',
};

export const editorTabs = {
  openFiles: 'Open files',
  notValid: 'not valid',
  close: 'Close',
};

export const fileRow = {
  entry: 'entry',
  labelled: (name: string, entry: boolean, binary: boolean) =>
    `${name}${entry ? ' entry' : ''}${binary ? ' binary' : ''}`,
  actionsFor: (path: string) => `Actions for ${path}`,
};

export const fileSearch = {
  searchInFiles: 'Search in files',
  placeholder: 'Text in any file',
  backToTheFiles: 'Back to the files',
  matchCase: 'Match case',
  none: 'No line has it.',
  found: (lines: number, more: boolean, files: number) =>
    `${plural(lines, { one: 'line', other: 'lines' })}${more ? ' and more' : ''} in ${plural(files, { one: 'file', other: 'files' })}`,
  linesFound: 'Lines found',
};

export const fileTree = {
  files: 'Files',
  newPathOf: (path: string) => `New path of ${path}`,
};

export const filesPanel = {
  files: 'Files',
  notMoved: (path: string, why: string) => `${path} was not moved. ${why}`,
  notRead: 'A file could not be read. Folders cannot be dropped here; choose their files.',
  notUploaded: (why: string) => `Nothing was uploaded. ${why}`,
  makeItTheEntrypoint: 'Make it the entrypoint',
  newFileInIt: 'New file in it',
  uploadIntoIt: 'Upload into it…',
  download: 'Download',
  renameOrMove: 'Rename or move',
  delete: 'Delete…',
  searchInFiles: 'Search in files',
  uploadFiles: 'Upload files',
  newFile: 'New file',
  filesToUpload: 'Files to upload',
  pathOfTheNewFile: 'Path of the new file',
  deleteNamed: (path: string) => `Delete ${path}?`,
  deleteAbout: 'The draft loses it at once; published versions keep theirs.',
  deleteVerb: 'Delete',
  replaceNamed: (path: string) => `Replace ${path}?`,
  replaceFiles: (n: number) => `Replace ${plural(n, { one: 'file', other: 'files' })}?`,
  replaceAbout: (paths: string[]) =>
    `${paths.join(', ')} ${form(paths.length, { one: 'is', other: 'are' })} there already. The draft loses what it has now.`,
  replaceVerb: 'Replace',
};

export const module = {
  choose: 'Choose the module, a file that ends in .wasm.',
  isNoModule: (name: string) => `${name} is not a module: its name has to end in .wasm.`,
  isTooLarge: (name: string, size: number, most: number) =>
    `${name} has ${bytes(size)}; a module has at most ${bytes(most)}.`,
  notRead: (name: string) => `${name} could not be read.`,
};

export const moduleInput = {
  module: 'Module',
};

export const moduleView = {
  replace: 'Replace…',
  looking: 'what the module needs and offers',
  notLookedAt: (reason: string) => `The module could not be looked at. ${reason}`,
  about:
    'A WASI command: it reads the input as JSON on stdin and prints the output as JSON on stdout; what it prints on stderr is in the console.',
  imports: 'Imports',
  noImports: 'It imports nothing.',
  exports: 'Exports',
  noExports: 'It exports nothing.',
};

export const problems = {
  problems: 'Problems',
  closeTheList: 'Close the list of problems',
  none: 'Nothing is wrong in the files that were looked at.',
  error: 'Error',
  warning: 'Warning',
};

/** Why a path cannot be a file of an agent. */
export const pathFaults = {
  aNameIsNeeded: 'A name is needed.',
  nameBetweenSlashes: 'A path has a name between slashes.',
  staysInside: 'A path stays inside the agent.',
  onlyLetters: 'A path has only letters, digits, and - _ . /',
  isThereAlready: (path: string) => `${path} is there already.`,
  cannotBeAFolderToo: 'A file cannot be a folder too.',
};
