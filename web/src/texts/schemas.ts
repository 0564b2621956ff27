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
