// Contains the commands that are currently available. A screen registers its commands while it is shown, and one
// listener of the window runs them. The listener uses the capture phase. So it gets Ctrl+Enter before Monaco, which
// would insert a line.
import { useLayoutEffect, useRef } from 'react';
import { create } from 'zustand';
import { bound, useBindings } from './bindings';
import { isPlainKey, lastOf, type CommandId, type KeyPress } from './hotkeys';
import { Sequence } from './sequence';

type Handlers = Partial<Record<CommandId, () => void>>;

export const useHandlers = create<{ handlers: Handlers }>(() => ({ handlers: {} }));

export const isMac = /^Mozilla\/5\.0 \(Mac/.test(navigator.userAgent);

export function runCommand(id: CommandId): void {
  useHandlers.getState().handlers[id]?.();
}

/**
 * Registers a command while the component is shown; undefined disables the command. It uses a layout effect. So a key
 * that is pressed directly after the end of a run can start the next run.
 */
export function useCommand(id: CommandId, run: (() => void) | undefined): void {
  const latest = useRef(run);
  useLayoutEffect(() => {
    latest.current = run;
  });
  const offered = run !== undefined;
  useLayoutEffect(() => {
    if (!offered) return;
    const handler = (): void => latest.current?.();
    useHandlers.setState(({ handlers }) => ({ handlers: { ...handlers, [id]: handler } }));
    return () =>
      useHandlers.setState(({ handlers }) =>
        handlers[id] === handler ? { handlers: { ...handlers, [id]: undefined } } : { handlers },
      );
  }, [id, offered]);
}

const modifiers = new Set(['Shift', 'Control', 'Alt', 'Meta', 'AltGraph']);

export const pressOf = (e: KeyboardEvent): KeyPress => ({
  key: e.key,
  code: e.code,
  ctrlKey: e.ctrlKey,
  metaKey: e.metaKey,
  shiftKey: e.shiftKey,
  altKey: e.altKey,
  altGraph: e.getModifierState('AltGraph'),
});

export const isModifier = (e: { key: string }): boolean => modifiers.has(e.key);

export function listenForKeys(): () => void {
  const sequence = new Sequence();
  const onKey = (e: KeyboardEvent): void => {
    if (e.isComposing || isModifier(e) || isRecording(e.target)) return;
    const all = bound(useBindings.getState().chosen).flatMap(({ id, keys }) =>
      keys === undefined ? [] : [{ id, keys }],
    );
    const hit = sequence.next(all, { ...pressOf(e), timeStamp: e.timeStamp }, takesLetters(e.target), isMac);
    if (!hit) return;
    if (isPlainKey(lastOf(hit.keys)) && isTyping(e.target)) return;
    const handler = useHandlers.getState().handlers[hit.id];
    if (!handler || behindDialog(hit.id)) return;
    e.preventDefault();
    e.stopPropagation();
    handler();
  };
  window.addEventListener('keydown', onKey, { capture: true });
  return () => window.removeEventListener('keydown', onKey, { capture: true });
}

/** While a shortcut is being recorded, keys start no command. */
function isRecording(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('[data-records-keys]') !== null;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable=true], [role=textbox]') !== null
  );
}

/** Elements in which letters are text or move between rows. */
function takesLetters(target: EventTarget | null): boolean {
  return isTyping(target) || (target instanceof HTMLElement && target.closest('[role=tree], [role=menu]') !== null);
}

/** While a dialog is open, commands of the page behind it are not available. */
function behindDialog(id: CommandId): boolean {
  return (
    id !== 'palette' && id !== 'view.theme' && document.querySelector('[role=dialog], [role=alertdialog]') !== null
  );
}
