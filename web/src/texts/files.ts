import { bytes, form, number, plural } from './format';

/** The label of a schema in the list of files. */
export const schema = (which: 'input' | 'output'): string =>
  ({ input: 'Input schema', output: 'Output schema' })[which];

export const binaryView = {
  isBinary: (name: string, size: number) => `${name} is binary, ${bytes(size)}. Available to the program at ./${name}.`,
  download: 'Download',
  replace: 'Replace…',
  replaceNamed: (path: string) => `Replace ${path}`,
  notRead: (name: string) => `${name} could not be read.`,
};

export const editorPane = {
  notLoaded: 'The editor could not be loaded.',
  firstEditor: 'First editor',
  secondEditor: 'Second editor',
  widthOfTheFirst: 'Width of the first editor',
  noFormatter: 'There is no formatter for this language.',
  noSuggestions: 'The suggestions could not be loaded. Switch them off and on again in the editor settings.',
  notSavedUntilFixed: (message: string) => `${message} The draft is not saved until it is fixed.`,
  lastValidIsKept: (message: string) => `${message} The last valid schema is kept.`,
};

export const editorSettings = {
  editorSettings: 'Editor settings',
  about: 'These settings apply at once, in this browser only.',
  fontSize: 'Font size',
  fontSizeHint: (min: number, max: number) => `${number(min)} to ${number(max)} pixels`,
  indentation: 'Indentation',
  byLanguage: 'By language',
  spaces: (n: number) => plural(n, { one: 'space', other: 'spaces' }),
  keys: 'Key bindings',
  keysOf: { own: 'Default', vim: 'Vim' },
  keysHint: 'The Studio’s shortcuts to run, save and leave the editor take precedence.',
  wrapLongLines: 'Wrap long lines',
  overview: 'Minimap',
  python: 'Language service for Python',
  pythonHint: 'Completion and type checks in this page. It takes about 290 MB of memory while a Python file is open.',
  suggestions: 'Suggest code while typing',
  suggestionsHint:
    'The language model gets the text around the cursor. Tab accepts its suggestion, Escape dismisses it.',
};

export const editorTabs = {
  openFiles: (second: boolean) => (second ? 'Open files of the second editor' : 'Open files'),
  split: 'Split editor',
  join: 'Close the second editor',
  notValid: 'not valid',
  close: 'Close',
};

export const fileRow = {
  entry: 'entry',
  labelled: (name: string, entry: boolean, binary: boolean, severity: 'error' | 'warning' | undefined) =>
    `${name}${entry ? ' entry' : ''}${binary ? ' binary' : ''}${severity === undefined ? '' : `, has ${severity}s`}`,
  actionsFor: (path: string) => `Actions for ${path}`,
};

export const fileSearch = {
  replaceBy: 'Replace by',
  replaceAll: 'Replace all',
  searchInFiles: 'Search in files',
  placeholder: 'Text in any file',
  backToTheFiles: 'Back to the files',
  matchCase: 'Match case',
  none: 'No line matches.',
  found: (lines: number, more: boolean, files: number) =>
    `${plural(lines, { one: 'line', other: 'lines' })}${more ? ' and more' : ''} in ${plural(files, { one: 'file', other: 'files' })}`,
  linesFound: 'Lines found',
};

export const fileTree = {
  files: 'Files',
  newPathOf: (path: string) => `New path of ${path}`,
};

export const filesPanel = {
  replaced: (count: number, files: number) =>
    `Replaced ${plural(count, { one: 'match', other: 'matches' })} in ${plural(files, { one: 'file', other: 'files' })}.`,
  undo: 'Undo',
  files: 'Files',
  notMoved: (path: string, why: string) => `${path} was not moved. ${why}`,
  notRead: 'A file could not be read. Folders cannot be dropped here; choose their files.',
  notUploaded: (why: string) => `Nothing was uploaded. ${why}`,
  openBeside: 'Open in the second editor',
  makeItTheEntrypoint: 'Make entrypoint',
  newFileInIt: 'New file here',
  uploadIntoIt: 'Upload here…',
  download: 'Download',
  renameOrMove: 'Rename or move',
  delete: 'Delete',
  searchInFiles: 'Search in files',
  uploadFiles: 'Upload files',
  newFile: 'New file',
  filesToUpload: 'Files to upload',
  pathOfTheNewFile: 'Path of the new file',
  deleteNamed: (path: string) => `Delete ${path}?`,
  deleteAbout: 'Removed from the draft. Published versions are not affected.',
  deleteEntryAbout: (entrypoint: string) =>
    `${entrypoint} is the entrypoint: no run can start until the configuration names another file. Published versions are not affected.`,
  deleteVerb: 'Delete',
  replaceNamed: (path: string) => `Replace ${path}?`,
  replaceFiles: (n: number) => `Replace ${plural(n, { one: 'file', other: 'files' })}?`,
  replaceAbout: (paths: string[]) =>
    `${paths.join(', ')} ${form(paths.length, { one: 'exists', other: 'exist' })} already. The current content is replaced.`,
  replaceVerb: 'Replace',
};

export const module = {
  choose: 'Choose the module, a file that ends in .wasm.',
  isNoModule: (name: string) => `${name} is not a module: its name must end in .wasm.`,
  isTooLarge: (name: string, size: number, most: number) =>
    `${name} has ${bytes(size)}; a module has at most ${bytes(most)}.`,
  notRead: (name: string) => `${name} could not be read.`,
};

export const moduleInput = {
  module: 'Module',
};

export const moduleView = {
  replace: 'Replace…',
  looking: 'the imports and exports of the module',
  notLookedAt: (reason: string) => `The module could not be inspected. ${reason}`,
  about:
    'A WASI command: it reads the input as JSON on stdin and prints the output as JSON on stdout. Its stderr appears in the console.',
  imports: 'Imports',
  noImports: 'It imports nothing.',
  exports: 'Exports',
  noExports: 'It exports nothing.',
};

export const problems = {
  opinion: 'Opinion of a language model',
  problems: 'Problems',
  closeTheList: 'Close the list of problems',
  none: 'No problems.',
  error: 'Error',
  warning: 'Warning',
};

/** Reasons why the path of a file is invalid. */
export const pathFaults = {
  aNameIsNeeded: 'Enter a name.',
  nameBetweenSlashes: 'A path needs a name between slashes.',
  staysInside: 'A path must stay inside the agent.',
  noLeadingDot: 'A name cannot start with a dot.',
  isReserved: (name: string) => `${name} is a reserved name.`,
  differsInCase: (path: string) => `${path} already exists. Names must differ in more than case.`,
  onlyLetters: 'A path can have only letters, digits, and - _ . /',
  isThereAlready: (path: string) => `${path} already exists.`,
  cannotBeAFolderToo: 'A file cannot also be a folder.',
};
