// Calls and queries for projects. This code is in a separate module, so that the first screen does not load it.
import { useQuery } from '@tanstack/react-query';
import { answerOf, apiBase, OfflineError, request, workspaceHeader } from './http';
import { queryClient } from './queries';
import type { Overlay, OverlayDiff, Project, ProjectChange, ProjectDetail, ProjectFileContent } from './types';

const key = ['projects'] as const;
const projectPath = (name: string): string => `/projects/${encodeURIComponent(name)}`;
/** The page of a proposed change. */
export const overlayUrl = (project: string, id: string): string =>
  `/projects/${encodeURIComponent(project)}/overlays/${encodeURIComponent(id)}`;
const overlayPath = (project: string, id: string): string =>
  `${projectPath(project)}/overlays/${encodeURIComponent(id)}`;
export const listProjects = (): Promise<{ items: Project[] }> => request('/projects');
export const getProject = (name: string): Promise<ProjectDetail> => request(projectPath(name));
export const getProjectFile = (project: string, path: string): Promise<ProjectFileContent> =>
  request(`${projectPath(project)}/file?path=${encodeURIComponent(path)}`);

const archiveTypes = [
  { end: /\.zip$/i, type: 'application/zip' },
  { end: /\.tar$/i, type: 'application/x-tar' },
  { end: /\.bundle$/i, type: 'application/x-git-bundle' },
];

/** Returns the media type of an archive by its file name. Any other name counts as a compressed tar. */
export const archiveTypeOf = (name: string): string =>
  archiveTypes.find(({ end }) => end.test(name))?.type ?? 'application/gzip';

/**
 * Creates a project from an archive, or replaces the project's files. Returns the entries that were omitted because
 * they are not plain files.
 */
export async function importProject(name: string, archive: File, description: string): Promise<string[]> {
  const query = new URLSearchParams({ description, strip: 'true' });
  const answer = await fetch(`${apiBase}${projectPath(name)}/import?${query.toString()}`, {
    method: 'POST',
    headers: { 'Content-Type': archiveTypeOf(archive.name), ...workspaceHeader() },
    body: archive,
  }).catch(() => undefined);
  if (!answer) throw new OfflineError();
  return (answerOf(answer.status, await answer.text(), answer.headers.get('Retry-After')) as { skipped: string[] })
    .skipped;
}

export const listOverlays = (project: string): Promise<{ items: Overlay[] }> =>
  request(`${projectPath(project)}/overlays?limit=100`);
export const listProjectChanges = (project: string): Promise<{ items: ProjectChange[] }> =>
  request(`${projectPath(project)}/changes?limit=100`);
export const getOverlayDiff = (project: string, id: string): Promise<OverlayDiff> =>
  request(`${overlayPath(project, id)}/diff`);
/**
 * Decides about the given files of an overlay, or about all open files. The overlay must still have the revision that
 * the user has seen.
 */
export const decideOverlay = (
  project: string,
  { id, revision }: Overlay,
  decision: 'accept' | 'reject',
  files?: string[],
): Promise<Overlay> =>
  request(`${overlayPath(project, id)}/${decision}`, { method: 'POST', body: { files, revision } });

export const useProjects = () => useQuery({ queryKey: [...key, 'list'], queryFn: listProjects, staleTime: 0 });
export const useProject = (name: string) =>
  useQuery({ queryKey: [...key, 'one', name], queryFn: () => getProject(name), staleTime: 0 });
export const useProjectFile = (project: string, path: string) =>
  useQuery({ queryKey: [...key, 'file', project, path], queryFn: () => getProjectFile(project, path), staleTime: 0 });
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
