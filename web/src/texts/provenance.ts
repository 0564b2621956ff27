export const verify = {
  draftHasChanged: 'The draft has changed since.',
  inlineIsNotKept: 'The code of an inline run is not stored.',
  isWithheld: 'Not stored, because the program has the flag “personal data”.',
  isGone: 'No longer on the server.',
  mayBeSecret: (masked: string) => `It contains ${masked}, which may be a redacted secret.`,
  digitsAreLost: 'This browser cannot represent all digits of a number in it.',
  same: 'The server’s data matches the record.',
  differs: (computed: string) => `The server’s data has the digest ${computed}.`,
};
