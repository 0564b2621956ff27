import { shortcuts as say } from '../texts/app';
import { Dialog } from '../ui/Dialog';
import { useBound } from '../state/bindings';
import { isMac } from '../state/commands';
import { closeDialog } from '../state/dialogs';
import { groups, showKeys } from '../state/hotkeys';
import css from './Shortcuts.module.css';

export function Shortcuts() {
  const all = useBound();
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
