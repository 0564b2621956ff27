export const common = {
  cancel: 'Cancel',
  done: 'Done',
  retry: 'Retry',
};
