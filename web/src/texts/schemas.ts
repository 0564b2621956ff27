export const breaks = {
  breakingChanges: 'Breaking changes',
  major: (reason: string, more: number) => `Major: ${reason}${more > 0 ? `, and ${more} more` : ''}`,
  why: 'Why',
};

export const schemaTable = {
  propertiesOfTheSchema: (side: 'input' | 'output') =>
    ({ input: 'Properties of the input schema', output: 'Properties of the output schema' })[side],
  name: 'Name',
  type: 'Type',
  required: 'Required',
  default: 'Default',
  description: 'Description',
  actions: 'Actions',
  anyInputIsTaken: 'Any input is taken.',
  anyOutputIsTaken: 'Any output is taken.',
  addProperty: 'Add property',
  typeOf: (name: string) => `Type of ${name}`,
  seeJson: 'see JSON',
  isRequired: (name: string) => `${name} is required`,
  descriptionOf: (name: string) => `Description of ${name}`,
  remove: (name: string) => `Remove ${name}`,
  nameOf: (name: string) => `Name of ${name}`,
  aPropertyHasAName: 'A property has a name.',
  thereIsAlready: (typed: string) => `There is ${typed} already.`,
  defaultOf: (name: string) => `Default of ${name}`,
  thisIsNotJsonYet: 'This is not JSON yet.',
};

export const schemaView = {
  schemaAs: 'Schema as',
  table: 'Table',
  thereIsNoRunYet: 'There is no run yet to infer from. Run the program first.',
  notFetched: (reason: string) => `The last run could not be fetched. ${reason}`,
  inferFromTheLast: (side: 'input' | 'output') =>
    ({ input: 'Infer from the last input', output: 'Infer from the last output' })[side],
};
