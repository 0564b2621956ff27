import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { chooseWorkspace } from '../api/workspace';

/** Goes into another workspace: to its first page, with nothing of the former one kept. */
export function useEnterWorkspace(): (workspace: string) => void {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  return (workspace) => {
    chooseWorkspace(workspace);
    navigate('/');
    void client.resetQueries();
  };
}
