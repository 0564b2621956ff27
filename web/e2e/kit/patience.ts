/** The time limit for reaching a state, in milliseconds. A loaded machine needs a few thousand. */
export const patience = 30_000;
