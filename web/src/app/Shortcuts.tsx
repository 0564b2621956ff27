import { shortcuts as say } from '../texts/app';
import { Dialog } from '../ui/Dialog';
import { isMac } from './commands';
import { closeDialog } from './dialogs';
import { commands, showKeys, type Command, type Group } from './hotkeys';
import css from './Shortcuts.module.css';

const groups: Group[] = ['Run', 'Agent', 'Go', 'View', 'Help'];

export function Shortcuts() {
  const all: readonly Command[] = commands;
  return (
    <Dialog title={say.keyboardShortcuts} onClose={closeDialog}>
      {groups.map((group) => (
        <section key={group} className={css.group}>
          <h3>{say.groups[group]}</h3>
          <dl>
            {all
              .filter((c) => c.group === group && c.keys !== undefined)
              .map((c) => (
                <div key={c.id}>
                  <dt>{c.title}</dt>
                  <dd>
                    <kbd>{showKeys(c.keys ?? '', isMac)}</kbd>
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
      <p className={css.note}>{say.note}</p>
    </Dialog>
  );
}
