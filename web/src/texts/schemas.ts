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
  thereIsNoRunYet: 'There is no run to infer from yet. Run the program first.',
  notFetched: (reason: string) => `The last run could not be fetched. ${reason}`,
  inferFromTheLast: (side: 'input' | 'output') =>
    ({ input: 'Infer from the last input', output: 'Infer from the last output' })[side],
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
  olderThanTheCode: (sides: ('input' | 'output')[]) =>
    sides.length > 1 ? 'The schemas are older than the code.' : `The ${sides[0] ?? ''} schema is older than the code.`,
  title: 'Update the schemas from the code',
  about: 'The schemas that the code describes, compared with those of the draft.',
  waiting: 'the types of the program',
  same: 'The schemas say the same as the code.',
  notInferred: (reason: string) => `The schemas stay as they are. ${reason}`,
  before: 'now',
  after: 'from the code',
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
