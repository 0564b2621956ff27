import { DropdownMenu } from 'radix-ui';
import { useState, type ReactNode } from 'react';
import { classes } from './classes';
import css from './Menu.module.css';

export type MenuEntry =
  | { kind: 'item'; label: string; keys?: string; danger?: boolean; disabled?: boolean; run: () => void }
  | { kind: 'label'; label: string }
  | { kind: 'rule' };

/** A menu on a button. Entries that a function gives are asked for when it opens. */
export function Menu({ trigger, entries }: { trigger: ReactNode; entries: MenuEntry[] | (() => MenuEntry[]) }) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={css.menu} align="end" sideOffset={4} collisionPadding={8}>
          <Entries of={entries} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Entries({ of }: { of: MenuEntry[] | (() => MenuEntry[]) }) {
  const [entries] = useState(of);
  return entries.map((entry, i) => <Entry key={i} entry={entry} />);
}

function Entry({ entry }: { entry: MenuEntry }) {
  switch (entry.kind) {
    case 'rule':
      return <DropdownMenu.Separator className={css.rule} />;
    case 'label':
      return <DropdownMenu.Label className={css.label}>{entry.label}</DropdownMenu.Label>;
    case 'item':
      return (
        <DropdownMenu.Item
          className={classes(css.item, entry.danger && css.danger)}
          disabled={entry.disabled ?? false}
          onSelect={entry.run}
        >
          <span>{entry.label}</span>
          {entry.keys !== undefined && <kbd>{entry.keys}</kbd>}
        </DropdownMenu.Item>
      );
  }
}
