/** Client of an Atelier server. It has no dependencies. */
export { Client, type RunOptions } from './client.js';
export { ApprovalNeeded, AtelierError, RunFailed } from './errors.js';
export type { Options } from './transport.js';
export type * from './types.js';
