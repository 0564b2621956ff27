// Contains the shortcuts: the defaults of the commands, and the user's changes, which are stored in the browser.
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { isObject } from '../api/json';
import { entriesOf, isText } from '../api/storage';
import { commands, type Command, type CommandId } from './hotkeys';

type Chosen = Partial<Record<CommandId, string>>;

const kept = 'atelier.keys';
const all: readonly (Command & { id: CommandId })[] = commands;

export const readBindings = (was: unknown): { chosen: Chosen } => ({
  chosen: isObject(was) ? entriesOf(was['chosen'], isText) : {},
});

export const useBindings = create<{ chosen: Chosen }>()(
  persist((): { chosen: Chosen } => ({ chosen: {} }), { name: kept, merge: readBindings }),
);

// A change applies to all tabs of the browser.
if (typeof window !== 'undefined')
  window.addEventListener('storage', ({ key }) => {
    if (key === kept) void useBindings.persist.rehydrate();
  });

/** Returns all commands with their current shortcuts. */
export const bound = (chosen: Chosen): (Command & { id: CommandId })[] =>
  all.map((command) => ({ ...command, ...(chosen[command.id] === undefined ? {} : { keys: chosen[command.id] }) }));

export const useBound = (): (Command & { id: CommandId })[] => {
  const { chosen } = useBindings();
  return bound(chosen);
};

/** Returns the shortcut of a command. */
export const useKeys = (id: CommandId): string => useBound().find((command) => command.id === id)?.keys ?? '';

/**
 * Sets the shortcut of a command. If `keys` is undefined, the default applies again. If another command already uses
 * the keys, it returns that command.
 */
export function bind(id: CommandId, keys: string | undefined): Command | undefined {
  const { chosen } = useBindings.getState();
  const wanted = keys ?? all.find((command) => command.id === id)?.keys;
  const other = bound(chosen).find((command) => command.id !== id && command.keys === wanted);
  if (wanted !== undefined && other) return other;
  const { [id]: _, ...rest } = chosen;
  useBindings.setState({ chosen: keys === undefined ? rest : { ...rest, [id]: keys } });
  return undefined;
}

export function unbindAll(): void {
  useBindings.setState({ chosen: {} });
}
