export const jsonBranch = {
  inputAsJson: 'Input as JSON',
};

export const listField = {
  item: (n: number) => `Item ${n}`,
  moveItemUp: (n: number) => `Move item ${n} up`,
  removeItem: (n: number) => `Remove item ${n}`,
  addItem: 'Add item',
};

export const schemaForm = {
  thisAgentTakesNoInput: 'This agent takes no input.',
  optional: 'optional',
  required: 'Required',
};

export const scalarFields = {
  mustBeANumber: 'Must be a number.',
  between: (minimum: string, maximum: string) => `${minimum} to ${maximum}`,
  atLeast: (minimum: string) => `At least ${minimum}`,
  atMost: (maximum: string) => `At most ${maximum}`,
};

export const momentField = {
  zone: (name: string) => `In the time zone of this browser, ${name}; it is sent as UTC.`,
};

export const shape = {
  variant: (n: number) => `Variant ${n}`,
};

export const locate = {
  empty: 'Not valid JSON: it is empty.',
  theTextEndsTooEarly: 'the text ends too early',
  isNotExpected: (sign: string) => `“${sign}” is not expected`,
  notValidJson: (found: string, line: number, column: number) =>
    `Not valid JSON: ${found} at line ${line}, column ${column}.`,
};

const withArticle = (type: string): string => (type === 'null' ? type : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`);

const noun = (count: string, one: string): string => (count === '1' ? one : `${one}s`);

export const validate = {
  nothingIsAllowedHere: 'No value is allowed here.',
  required: 'Required.',
  mustBeAtLeast: (text: string) => `Must be at least ${text}.`,
  mustBeAtMost: (text: string) => `Must be at most ${text}.`,
  mustBeMoreThan: (text: string) => `Must be more than ${text}.`,
  mustBeLessThan: (text: string) => `Must be less than ${text}.`,
  mustBeAMultiple: (text: string) => `Must be a multiple of ${text}.`,
  mustNotBeEmpty: 'Must not be empty.',
  mustHaveAtLeastCharacters: (text: string) => `Must have at least ${text} ${noun(text, 'character')}.`,
  mustHaveAtMostCharacters: (text: string) => `Must have at most ${text} ${noun(text, 'character')}.`,
  mustHaveAtLeastItems: (text: string) => `Must have at least ${text} ${noun(text, 'item')}.`,
  mustHaveAtMostItems: (text: string) => `Must have at most ${text} ${noun(text, 'item')}.`,
  mustMatch: (text: string) => `Must match ${text}.`,
  mustBeAValid: (text: string) => `Must be a valid ${text}.`,
  mustBe: (types: string[]) => `Must be ${types.map(withArticle).join(' or ')}.`,
  mustBeOneOf: (names: string) => `Must be one of ${names}.`,
};
