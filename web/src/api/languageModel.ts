// Reads and changes the workspace's setting for the language model.
import { useQuery } from '@tanstack/react-query';
import { request } from './http';
import { queryClient } from './queries';
import type { components } from './schema';

export type LanguageModel = components['schemas']['State'];

const key = ['language-model'] as const;

export const useLanguageModel = () =>
  useQuery({ queryKey: key, queryFn: () => request<LanguageModel>('/language-model'), staleTime: 0 });

/**
 * Switches the language model on or off for the workspace, and may select another model. All screens that use the model
 * are updated.
 */
export async function switchLanguageModel(on: boolean, model?: string): Promise<void> {
  await request<LanguageModel>('/language-model', {
    method: 'PUT',
    body: { on, ...(model !== undefined && { model }) },
  });
  await Promise.all([key, ['capabilities']].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}
