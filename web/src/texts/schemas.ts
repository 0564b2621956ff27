export const breaks = {
  breakingChanges: 'Breaking changes',
  major: (reason: string, more: number) => `Major: ${reason}${more > 0 ? `, and ${more} more` : ''}`,
  why: 'Why',
};

export const schemaTable = {
  asATable: (side: 'input' | 'output') =>
    ({ input: 'Input schema as a table', output: 'Output schema as a table' })[side],
  propertiesOfTheSchema: (side: 'input' | 'output') =>
    ({ input: 'Properties of the input schema', output: 'Properties of the output schema' })[side],
  name: 'Name',
  type: 'Type',
  required: 'Required',
  default: 'Default',
  description: 'Description',
  actions: 'Actions',
  anyInputIsTaken: 'Any input is accepted.',
  anyOutputIsTaken: 'Any output is accepted.',
  addProperty: 'Add property',
  typeOf: (name: string) => `Type of ${name}`,
  seeJson: 'see JSON',
  isRequired: (name: string) => `${name} is required`,
  descriptionOf: (name: string) => `Description of ${name}`,
  remove: (name: string) => `Remove ${name}`,
  nameOf: (name: string) => `Name of ${name}`,
  aPropertyHasAName: 'A property needs a name.',
  thereIsAlready: (typed: string) => `${typed} already exists.`,
  choices: 'Choices',
  choicesOf: (name: string) => `Choices of ${name}, with commas between`,
  aChoiceHasAWord: 'A choice needs at least one value.',
  defaultOf: (name: string) => `Default of ${name}`,
  thisIsNotJsonYet: 'This is not valid JSON yet.',
};

export const schemaView = {
  schemaAs: 'Schema as',
  table: 'Table',
  guess: 'Guess from runs…',
};

const origins = {
  python: 'the Python types',
  pydantic: 'the Pydantic models',
  typescript: 'the TypeScript types',
  zod: 'the exported Zod schema',
  standard_schema: 'the exported schema',
};

export const fromCode = {
  update: 'Update from code',
  follows: (source: string) =>
    `From ${source in origins ? origins[source as keyof typeof origins] : source}. It follows the code.`,
  guessed: 'A guess from samples.',
  older: 'Older than the code.',
  unread: ({ file, line, message }: { file?: string; line?: number; message: string }) =>
    file === undefined ? message : `${file}:${line ?? 1}: ${message}`,
  olderThanTheCode: (sides: ('input' | 'output')[]) =>
    sides.length > 1 ? 'The schemas are older than the code.' : `The ${sides[0] ?? ''} schema is older than the code.`,
  title: { code: 'Update the schemas from the code', runs: 'Guess the schemas from runs' },
  about: {
    code: 'The schemas that the code describes, compared with those of the draft.',
    runs: 'Schemas that the last 20 recorded runs fit, compared with those of the draft.',
  },
  waiting: { code: 'the types of the program', runs: 'the recorded runs' },
  same: { code: 'The schemas say the same as the code.', runs: 'The schemas say the same as the guess.' },
  notInferred: (reason: string) => `The schemas stay as they are. ${reason}`,
  before: 'now',
  after: { code: 'from the code', runs: 'a guess' },
  schema: (side: 'input' | 'output') => ({ input: 'Input schema', output: 'Output schema' })[side],
  file: (side: 'input' | 'output') => ({ input: 'input schema.json', output: 'output schema.json' })[side],
  notes: 'Notes',
  apply: 'Update schemas',
};

export const schemaSummary = {
  anyInputIsTaken: 'Any input is accepted.',
  anyOutputIsTaken: 'Any output is accepted.',
  name: 'Name',
  type: 'Type',
  default: 'Default',
  presence: 'Presence',
  required: 'required',
  optional: 'optional',
};
