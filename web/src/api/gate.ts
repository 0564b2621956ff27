// Calls and queries for the policy gate's rules. This code is in a separate module, so that the first screen does not
// load it.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiError, request } from './http';
import { queryClient } from './queries';
import type { GateSettings, RulePack, Trial, Verdict } from './types';

const key = ['gate'] as const;
export const getGate = (): Promise<GateSettings> => request('/gate');
export const setGate = (settings: GateSettings): Promise<GateSettings> =>
  request('/gate', { method: 'PUT', body: settings });
export async function listRulePacks(): Promise<RulePack[]> {
  return (await request<{ items: RulePack[] }>('/rule-packs?limit=100')).items;
}
const packPath = (name: string): string => `/rule-packs/${encodeURIComponent(name)}`;
export const putRulePack = (name: string, source: string): Promise<unknown> =>
  request(packPath(name), { method: 'PUT', body: { source } });
export const deleteRulePack = (name: string): Promise<null> => request(packPath(name), { method: 'DELETE' });
/** Asks for the verdict that given rules produce for a piece of code. The server stores nothing. */
export const tryRules = (body: Trial, signal: AbortSignal): Promise<Verdict> =>
  request('/gate/try', { method: 'POST', body, signal });

export const useGate = () => useQuery({ queryKey: key, queryFn: getGate });
export const useRulePacks = () => useQuery({ queryKey: [...key, 'packs'], queryFn: listRulePacks });
/** Marks the gate's settings, rules and verdicts as outdated, so that they are loaded again. */
export async function refreshGate(): Promise<void> {
  queryClient.removeQueries({ queryKey: ['trial'], type: 'inactive' });
  await Promise.all([key, ['trial']].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}
/**
 * If another person changes the settings between reading and writing, the server returns a conflict. Then this function
 * applies the changes to the newer settings.
 */
async function changeStored(change: (settings: GateSettings) => Partial<GateSettings>, tries = 5): Promise<void> {
  const settings = await getGate();
  try {
    await setGate({ ...settings, ...change(settings) });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'conflict') || tries === 1) throw error;
    await changeStored(change, tries - 1);
  }
}
let changing: Promise<unknown> = Promise.resolve();
/**
 * Changes some settings of the policy gate. Changes are sent one after the other. Each request contains the stored
 * settings with one change.
 */
export function changeGate(change: (settings: GateSettings) => Partial<GateSettings>): Promise<void> {
  // The screen shows the change immediately, and the stored settings after the answer. A late answer to an older
  // request would undo the change on the screen, so such requests are cancelled.
  void queryClient.cancelQueries({ queryKey: key, exact: true }, { revert: false });
  queryClient.setQueryData<GateSettings>(key, (shown) => shown && { ...shown, ...change(shown) });
  const next = changing.then(async () => {
    try {
      await changeStored(change);
    } finally {
      await refreshGate();
    }
  });
  changing = next.catch(() => undefined);
  return next;
}
/** Reads the verdict about a piece of code. The last verdict stays visible while the next one is loaded. */
export const useTrial = (trial: Trial) =>
  useQuery({
    queryKey: ['trial', trial],
    queryFn: ({ signal }) => tryRules(trial, signal),
    enabled: trial.code.trim() !== '',
    placeholderData: keepPreviousData,
    retry: false,
  });
