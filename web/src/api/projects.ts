// Projects: calls and queries of their pages alone, so that the first screen does not load them.
import { useQuery } from '@tanstack/react-query';
import { request } from './http';
import { queryClient } from './queries';
import type { Overlay, OverlayDiff, Project, ProjectChange } from './types';

const key = ['projects'] as const;
const projectPath = (name: string): string => `/projects/${encodeURIComponent(name)}`;
const overlayPath = (project: string, id: string): string =>
  `${projectPath(project)}/overlays/${encodeURIComponent(id)}`;
export const listProjects = (): Promise<{ items: Project[] }> => request('/projects');
export const listOverlays = (project: string): Promise<{ items: Overlay[] }> =>
  request(`${projectPath(project)}/overlays?limit=100`);
export const listProjectChanges = (project: string): Promise<{ items: ProjectChange[] }> =>
  request(`${projectPath(project)}/changes?limit=100`);
export const getOverlayDiff = (project: string, id: string): Promise<OverlayDiff> =>
  request(`${overlayPath(project, id)}/diff`);
/** Decides about files of the overlay as it was read, or about all that are open. */
export const decideOverlay = (
  project: string,
  { id, revision }: Overlay,
  decision: 'accept' | 'reject',
  files?: string[],
): Promise<Overlay> =>
  request(`${overlayPath(project, id)}/${decision}`, { method: 'POST', body: { files, revision } });

export const useProjects = () => useQuery({ queryKey: [...key, 'list'], queryFn: listProjects, staleTime: 0 });
export const useOverlays = (project: string) =>
  useQuery({ queryKey: [...key, 'overlays', project], queryFn: () => listOverlays(project), staleTime: 0 });
export const useProjectChanges = (project: string) =>
  useQuery({
    queryKey: [...key, 'changes', project],
    queryFn: () => listProjectChanges(project),
    staleTime: 0,
  });
export const useOverlayDiff = (project: string, id: string) =>
  useQuery({
    queryKey: [...key, 'diff', project, id],
    queryFn: () => getOverlayDiff(project, id),
    staleTime: 0,
  });
export const refreshProjects = (): Promise<void> => queryClient.invalidateQueries({ queryKey: key });
