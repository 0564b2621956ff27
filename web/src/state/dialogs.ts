// Which dialog is open. One at a time, asked for from anywhere.
import { useState } from 'react';
import { create } from 'zustand';

export type OpenDialog =
  | { kind: 'none' }
  | { kind: 'new'; name?: string }
  | { kind: 'delete'; id: string; name: string }
  | { kind: 'copy'; id: string; name: string; version: string }
  | { kind: 'list'; name: string; listed: boolean }
  | { kind: 'rename'; id: string; name: string; published: boolean }
  | { kind: 'duplicate'; id: string; name: string }
  | { kind: 'import'; file?: File }
  | { kind: 'publish' }
  | { kind: 'redraft'; from: string }
  | { kind: 'deprecate'; version: string }
  | { kind: 'compare'; from: string; to: string }
  | { kind: 'export'; version?: string }
  | { kind: 'palette'; scope: 'all' | 'places' }
  | { kind: 'editor' }
  | { kind: 'keys' };

export const useDialog = create<{ open: OpenDialog }>(() => ({ open: { kind: 'none' } }));

export const showDialog = (open: OpenDialog): void => useDialog.setState({ open });
export const closeDialog = (): void => useDialog.setState({ open: { kind: 'none' } });

/**
 * Closes the dialog that asks for it, at the end of what it began. Who did not wait for that may be in another one by then,
 * which must not close under their hands, or on another page: false says so, and that they want to be led nowhere.
 */
export function useCloseOwn(): () => boolean {
  const [own] = useState(() => ({ open: useDialog.getState().open, path: location.pathname }));
  return () => {
    const { open } = useDialog.getState();
    if (open === own.open) closeDialog();
    return (open === own.open || open.kind === 'none') && location.pathname === own.path;
  };
}
