// Stores which dialog is open. Only one dialog is open at a time.
import { useState } from 'react';
import { create } from 'zustand';
import type { ChangeTask } from '../api/types';

export type OpenDialog =
  | { kind: 'none' }
  | { kind: 'new'; name?: string }
  | { kind: 'delete'; id: string; name: string }
  | { kind: 'copy'; id: string; name: string; version: string }
  | { kind: 'list'; name: string; listed: boolean }
  | { kind: 'rename'; id: string; name: string; published: boolean }
  | { kind: 'duplicate'; id: string; name: string }
  | { kind: 'import'; file?: File }
  | { kind: 'importTool' }
  | { kind: 'publish' }
  | { kind: 'updateSchemas'; from: 'code' | 'runs' }
  | { kind: 'keepTest'; runId: string }
  | { kind: 'fix'; runId: string }
  | { kind: 'describe'; name?: string }
  | { kind: 'change'; task: ChangeTask }
  | { kind: 'opinion'; about: 'explain' | 'review' }
  | { kind: 'editTest'; test?: string }
  | { kind: 'generateTests' }
  | { kind: 'redraft'; from: string }
  | { kind: 'draftHistory' }
  | { kind: 'savedDraft'; revision: number; back?: OpenDialog }
  | { kind: 'deprecate'; version: string }
  | { kind: 'compare'; from: string; to: string }
  | { kind: 'export'; version?: string }
  | { kind: 'connect' }
  | { kind: 'palette'; scope: 'all' | 'places' }
  | { kind: 'reference' }
  | { kind: 'editor' }
  | { kind: 'keys' };

export const useDialog = create<{ open: OpenDialog }>(() => ({ open: { kind: 'none' } }));

export const showDialog = (open: OpenDialog): void => useDialog.setState({ open });
export const closeDialog = (): void => useDialog.setState({ open: { kind: 'none' } });

/**
 * Returns a function that closes the dialog when its work has ended. The function returns false if the user has opened
 * another dialog or page. Then it closes nothing, and the caller must not navigate.
 */
export function useCloseOwn(): () => boolean {
  const [own] = useState(() => ({ open: useDialog.getState().open, path: location.pathname }));
  return () => {
    const { open } = useDialog.getState();
    if (open === own.open) closeDialog();
    return (open === own.open || open.kind === 'none') && location.pathname === own.path;
  };
}
