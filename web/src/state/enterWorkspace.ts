import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { chooseWorkspace } from '../api/workspace';

/** Switches to another workspace: it opens the first page and clears the cached data. */
export function useEnterWorkspace(): (workspace: string) => void {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  return (workspace) => {
    chooseWorkspace(workspace);
    navigate('/');
    void client.resetQueries();
  };
}
