import type { AgentSummary } from '../../api/types';

/** Whether the server installed the agent itself. */
export const isBuiltIn = ({ createdBy }: AgentSummary): boolean => createdBy?.type === 'system';
