export const common = {
  cancel: 'Cancel',
  done: 'Done',
  tryAgain: 'Try again',
};
