import { Search } from 'lucide-react';
import { useRef, useState, type KeyboardEvent } from 'react';
import { bind, unbindAll, useBindings, useBound } from '../../state/bindings';
import { isMac, isModifier, pressOf } from '../../state/commands';
import { groups, keysOf, showKeys, strokeOf, type Command, type CommandId } from '../../state/hotkeys';
import { shortcuts } from '../../texts/app';
import { keysOfCommands as say } from '../../texts/settings';
import { Button } from '../../ui/Button';
import { Fault } from '../../ui/Fault';
import { narrowed } from '../../ui/tableOrder';
import css from './Keys.module.css';
import page from './SettingsPage.module.css';

/** Lists the shortcuts of all commands. The user can change them. */
export function Keys() {
  const all = useBound();
  const { chosen } = useBindings();
  const [typed, setTyped] = useState('');
  const found = narrowed(
    all,
    typed,
    ({ title, keys }) => `${title} ${keys === undefined ? '' : showKeys(keys, isMac)}`,
  );
  const shown = groups.filter((group) => found.some((command) => command.group === group));
  return (
    <>
      <p className={page.lead}>{say.about}</p>
      <div className={css.filter}>
        <Search size={14} aria-hidden />
        <input
          type="search"
          aria-label={say.filter}
          placeholder={say.placeholder}
          spellCheck={false}
          value={typed}
          onChange={(e) => setTyped(e.target.value)}
          onKeyDown={(e) => e.key === 'Escape' && setTyped('')}
        />
      </div>
      {shown.length === 0 && <p className={page.lead}>{say.nothingMatches}</p>}
      {shown.map((group) => (
        <section key={group} className={css.group}>
          <h3>{shortcuts.groups[group]}</h3>
          <ul aria-label={shortcuts.groups[group]}>
            {found
              .filter((command) => command.group === group)
              .map((command) => (
                <Row key={command.id} command={command} changed={chosen[command.id] !== undefined} />
              ))}
          </ul>
        </section>
      ))}
      <div>
        <Button disabled={Object.keys(chosen).length === 0} onClick={unbindAll}>
          {say.resetAll}
        </Button>
      </div>
    </>
  );
}

function Row({ command, changed }: { command: Command & { id: CommandId }; changed: boolean }) {
  // The keys that were pressed since the recording started: none, or the first of two letters.
  const [recorded, setRecorded] = useState<string>();
  const [fault, setFault] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  const { id, title, keys } = command;
  const give = (wanted: string | undefined): void => {
    const other = bind(id, wanted);
    setFault(other && say.taken(showKeys(other.keys ?? '', isMac), other.title));
  };
  const record = (e: KeyboardEvent): void => {
    // The Enter key that started the recording may still be pressed.
    if (recorded === undefined || e.repeat || e.key === 'Tab' || isModifier(e)) return;
    e.preventDefault();
    const press = pressOf(e.nativeEvent);
    const stroke = strokeOf(press, isMac);
    if (recorded === '' && stroke !== undefined) return setRecorded(stroke);
    setRecorded(undefined);
    if (e.key === 'Escape') return;
    if (recorded === '') {
      const held = keysOf(press, isMac);
      if (held === undefined) setFault(say.notThese);
      else give(held);
    } else if (stroke === undefined) setFault(say.notAfter(recorded));
    else give(`${recorded} ${stroke}`);
  };
  const began = recorded !== undefined && recorded !== '';
  const label = began ? say.thenPressFor(recorded, title) : say.pressKeysFor(title);
  return (
    <li className={css.row}>
      <span className={css.title}>{title}</span>
      <kbd>{keys === undefined ? '' : showKeys(keys, isMac)}</kbd>
      <span className={css.acts}>
        {changed && (
          <Button
            aria-label={say.resetKeysOf(title)}
            onClick={() => {
              give(undefined);
              button.current?.focus(); // this button disappears while it has the focus
            }}
          >
            {say.reset}
          </Button>
        )}
        <Button
          ref={button}
          look={recorded === undefined ? 'quiet' : 'plain'}
          aria-label={recorded === undefined ? say.changeKeysOf(title) : label}
          {...(recorded === undefined ? {} : { 'data-records-keys': true })}
          onClick={() => {
            button.current?.focus(); // Safari does not focus a button when the user clicks it
            setFault(undefined);
            setRecorded('');
          }}
          onBlur={() => setRecorded(undefined)}
          onKeyDown={record}
        >
          {recorded === undefined ? say.change : began ? say.thenPress(recorded) : say.pressKeys}
        </Button>
        <span role="status" className="visually-hidden">
          {began && say.thenPress(recorded)}
        </span>
      </span>
      <Fault message={fault} />
    </li>
  );
}
