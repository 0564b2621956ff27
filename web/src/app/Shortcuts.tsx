import { Dialog } from '../ui/Dialog';
import { isMac } from './commands';
import { closeDialog } from './dialogs';
import { commands, showKeys, type Command, type Group } from './hotkeys';
import css from './Shortcuts.module.css';

const groups: Group[] = ['Run', 'Agent', 'Go to', 'View', 'Help'];

export function Shortcuts() {
  const all: readonly Command[] = commands;
  return (
    <Dialog title="Keyboard shortcuts" onClose={closeDialog}>
      {groups.map((group) => (
        <section key={group} className={css.group}>
          <h3>{group}</h3>
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
      <p className={css.note}>In the editor, F1 lists its own commands, and Ctrl+M lets Tab leave it.</p>
    </Dialog>
  );
}
