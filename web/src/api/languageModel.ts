// The language model of the workspace: its state and its switch.
import { useQuery } from '@tanstack/react-query';
import { request } from './http';
import { queryClient } from './queries';
import type { components } from './schema';

export type LanguageModel = components['schemas']['State'];

const key = ['language-model'] as const;

export const useLanguageModel = () =>
  useQuery({ queryKey: key, queryFn: () => request<LanguageModel>('/language-model'), staleTime: 0 });

/** Switches the model on or off for the workspace, and may choose another. Screens that offer its help follow. */
export async function switchLanguageModel(on: boolean, model?: string): Promise<void> {
  await request<LanguageModel>('/language-model', {
    method: 'PUT',
    body: { on, ...(model !== undefined && { model }) },
  });
  await Promise.all([key, ['capabilities']].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}
