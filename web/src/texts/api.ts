export const http = {
  theServerCannotBeReached: 'The server cannot be reached.',
  theServerAnswered: (status: number) => `The server answered ${status}.`,
  notValid: 'Not valid.',
  somethingWentWrong: 'Something went wrong.',
};

export const rights = {
  thisTokenIsFor: (agents: string[]) => `This token is for ${agents.join(', ')} alone.`,
  thisNeedsTheScope: (scope: string) => `This needs the scope ${scope}.`,
  thisNeedsTheRole: (role: string, yours: string) => `This needs the role ${role}, and yours is ${yours}.`,
};

export const upload = {
  stopped: 'The upload was stopped.',
};
