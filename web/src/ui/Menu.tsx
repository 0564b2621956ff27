import { DropdownMenu } from 'radix-ui';
import { useRef, useState, type ReactNode } from 'react';
import { classes } from './classes';
import css from './Menu.module.css';

export type MenuEntry =
  | {
      kind: 'item';
      label: string;
      keys?: string;
      danger?: boolean;
      /** The page of this entry is open. */
      current?: boolean;
      /** The reason why the entry is disabled. The entry shows it. */
      why?: string | undefined;
      /** Whether the action moves the focus. Then it starts after the menu has returned the focus. */
      later?: boolean;
      run: () => void;
    }
  | { kind: 'label'; label: string }
  | { kind: 'rule' };

interface Props {
  trigger: ReactNode;
  entries: MenuEntry[] | (() => MenuEntry[]);
  /** Whether the menu is open, if more than the button can open it. */
  opened?: { open: boolean; onOpen: (open: boolean) => void };
  /** The element that gets the focus after the menu has closed, instead of the button. */
  back?: () => HTMLElement | null | undefined;
}

/** A button that opens a menu. If the entries are a function, it is called when the menu opens. */
export function Menu({ trigger, entries, opened, back }: Props) {
  const waiting = useRef<() => void>(undefined);
  const giveBack = (e: Event): void => {
    if (waiting.current) queueMicrotask(waiting.current);
    waiting.current = undefined;
    const element = back?.();
    if (!element) return;
    e.preventDefault();
    element.focus();
  };
  const choose = ({ later = false, run }: Item): void => {
    if (later) waiting.current = run;
    else run();
  };
  return (
    <DropdownMenu.Root {...(opened && { open: opened.open, onOpenChange: opened.onOpen })}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className={css.menu}
          align="end"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={giveBack}
        >
          <Entries of={entries} onChoose={choose} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

type Item = Extract<MenuEntry, { kind: 'item' }>;

interface EntriesProps {
  of: Props['entries'];
  onChoose: (item: Item) => void;
}

function Entries({ of, onChoose }: EntriesProps) {
  const [entries] = useState(of);
  return entries.map((entry, i) => <Entry key={i} entry={entry} onChoose={onChoose} />);
}

function Entry({ entry, onChoose }: { entry: MenuEntry; onChoose: EntriesProps['onChoose'] }) {
  switch (entry.kind) {
    case 'rule':
      return <DropdownMenu.Separator className={css.rule} />;
    case 'label':
      return <DropdownMenu.Label className={css.label}>{entry.label}</DropdownMenu.Label>;
    case 'item':
      return (
        <DropdownMenu.Item
          className={classes(css.item, entry.danger && css.danger)}
          aria-current={entry.current ? 'page' : undefined}
          // Uses aria-disabled, because arrow keys skip `disabled` entries and their reason would not be announced.
          aria-disabled={entry.why !== undefined}
          onSelect={(e) => {
            if (entry.why === undefined) onChoose(entry);
            else e.preventDefault();
          }}
        >
          <span>
            {entry.label}
            {entry.why !== undefined && <small>{entry.why}</small>}
          </span>
          {entry.keys !== undefined && <kbd>{entry.keys}</kbd>}
        </DropdownMenu.Item>
      );
  }
}
