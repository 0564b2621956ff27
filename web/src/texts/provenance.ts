export const verify = {
  draftHasChanged: 'The draft has changed since.',
  inlineIsNotKept: 'The code of an inline run is not kept.',
  isGone: 'The server does not have it any more.',
  mayBeSecret: (masked: string) => `There is ${masked} in it, which may stand for a secret.`,
  digitsAreLost: 'This browser does not keep all digits of a number in it.',
  same: 'What the server has is what was recorded.',
  differs: (computed: string) => `What the server has is ${computed}.`,
};
