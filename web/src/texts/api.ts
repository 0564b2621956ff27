export const http = {
  theServerCannotBeReached: 'The server cannot be reached.',
  theServerAnswered: (status: number) => `The server answered with status ${status}.`,
  notValid: 'Not valid.',
  somethingWentWrong: 'Something went wrong.',
};

export const rights = {
  thisTokenIsFor: (agents: string[]) => `This token works only for ${agents.join(', ')}.`,
  thisNeedsTheScope: (scope: string) => `This needs the scope ${scope}.`,
  thisNeedsTheRole: (role: string, yours: string) => `This needs the role ${role}; yours is ${yours}.`,
};

export const upload = {
  stopped: 'The upload was stopped.',
};
