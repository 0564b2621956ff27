// Which commands can run now: a screen says so while it is shown, and one listener on the window starts them. It
// listens in the capture phase, before Monaco, so that Ctrl+Enter runs and inserts no line.
import { useLayoutEffect, useRef } from 'react';
import { create } from 'zustand';
import { commands, isPlainKey, matches, parseChord, type Command, type CommandId } from './hotkeys';

type Handlers = Partial<Record<CommandId, () => void>>;

export const useHandlers = create<{ handlers: Handlers }>(() => ({ handlers: {} }));

export const isMac = /^Mozilla\/5\.0 \(Mac/.test(navigator.userAgent);

export function runCommand(id: CommandId): void {
  useHandlers.getState().handlers[id]?.();
}

/**
 * Offers a command while the component is shown; undefined says that it cannot run now. A key that is pressed as soon as the
 * screen says that a run has ended starts the next: so the command changes with the screen and not after it.
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

const chords = (commands as readonly (Command & { id: CommandId })[]).flatMap(({ id, keys }) =>
  keys === undefined ? [] : [{ id, chord: parseChord(keys) }],
);

export function listenForKeys(): () => void {
  const onKey = (e: KeyboardEvent): void => {
    if (e.isComposing) return;
    const press = {
      key: e.key,
      code: e.code,
      ctrlKey: e.ctrlKey,
      metaKey: e.metaKey,
      shiftKey: e.shiftKey,
      altKey: e.altKey,
      altGraph: e.getModifierState('AltGraph'),
    };
    const hit = chords.find(({ chord }) => matches(chord, press, isMac));
    if (!hit || (isPlainKey(hit.chord) && isTyping(e.target))) return;
    const handler = useHandlers.getState().handlers[hit.id];
    if (!handler || behindDialog(hit.id)) return;
    e.preventDefault();
    e.stopPropagation();
    handler();
  };
  window.addEventListener('keydown', onKey, { capture: true });
  return () => window.removeEventListener('keydown', onKey, { capture: true });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable=true]') !== null;
}

/** While a dialog is open, what is behind it must not move. */
function behindDialog(id: CommandId): boolean {
  return (
    id !== 'palette' && id !== 'view.theme' && document.querySelector('[role=dialog], [role=alertdialog]') !== null
  );
}
