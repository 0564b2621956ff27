/** The maximum time to wait for a state, in milliseconds. A busy machine needs a few thousand milliseconds. */
export const waitTimeout = 30_000;
