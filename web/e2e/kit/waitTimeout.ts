/** The time limit for reaching a state, in milliseconds. A loaded machine needs a few thousand. */
export const waitTimeout = 30_000;
