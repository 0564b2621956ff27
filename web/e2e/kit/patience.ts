/** How long a state is waited for, in milliseconds. A healthy machine with other work on it needs a few thousand. */
export const patience = 30_000;
