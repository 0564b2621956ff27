import { useRef, useState, type KeyboardEvent } from 'react';
import { bind, unbindAll, useBindings, useBound } from '../../app/bindings';
import { isMac, isModifier, pressOf } from '../../app/commands';
import { groups, keysOf, showKeys, type Command, type CommandId } from '../../app/hotkeys';
import { shortcuts } from '../../texts/app';
import { keysOfCommands as say } from '../../texts/settings';
import { Button } from '../../ui/Button';
import { Fault } from '../../ui/Fault';
import css from './Keys.module.css';
import page from './SettingsPage.module.css';

/** Which keys start which command, and others for them. */
export function Keys() {
  const all = useBound();
  const { chosen } = useBindings();
  return (
    <>
      <p className={page.lead}>{say.about}</p>
      {groups.map((group) => (
        <section key={group} className={css.group}>
          <h3>{shortcuts.groups[group]}</h3>
          <ul aria-label={shortcuts.groups[group]}>
            {all
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
  const [recording, setRecording] = useState(false);
  const [fault, setFault] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  const { id, title, keys } = command;
  const give = (wanted: string | undefined): void => {
    const other = bind(id, wanted);
    setFault(other && say.taken(showKeys(other.keys ?? '', isMac), other.title));
  };
  const record = (e: KeyboardEvent): void => {
    // Who starts with Enter may still hold it down.
    if (!recording || e.repeat || e.key === 'Tab' || isModifier(e)) return;
    e.preventDefault();
    setRecording(false);
    if (e.key === 'Escape') return;
    const pressed = keysOf(pressOf(e.nativeEvent), isMac);
    if (pressed === undefined) setFault(say.notThese);
    else give(pressed);
  };
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
              button.current?.focus(); // this one goes, and would take the focus with it
            }}
          >
            {say.reset}
          </Button>
        )}
        <Button
          ref={button}
          aria-label={recording ? say.pressKeysFor(title) : say.changeKeysOf(title)}
          {...(recording ? { 'data-records-keys': true } : {})}
          onClick={() => {
            button.current?.focus(); // Safari gives a button that is clicked none
            setFault(undefined);
            setRecording(true);
          }}
          onBlur={() => setRecording(false)}
          onKeyDown={record}
        >
          {recording ? say.pressKeys : say.change}
        </Button>
      </span>
      <Fault message={fault} />
    </li>
  );
}
