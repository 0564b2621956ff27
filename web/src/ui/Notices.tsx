import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { useLayoutEffect, useState } from 'react';
import { create } from 'zustand';
import { notices as say } from '../texts/app';
import { Button, IconButton } from './Button';
import { classes } from './classes';
import { leaveFocus } from './focusBack';
import css from './Notices.module.css';
import { dismiss, useNotices } from '../state/notices';

// Elements outside of an open dialog do not react, so the topmost dialog shows the notices.
const useDialogs = create<{ dialogs: readonly symbol[] }>(() => ({ dialogs: [] }));

/** Shows notices over the page. */
export function Notices() {
  const { dialogs } = useDialogs();
  return <Region here={dialogs.length === 0} />;
}

/** Shows notices inside a dialog. */
export function DialogNotices() {
  const { dialogs } = useDialogs();
  const [own] = useState(() => Symbol());
  useLayoutEffect(() => {
    useDialogs.setState((now) => ({ dialogs: [...now.dialogs, own] }));
    return () => useDialogs.setState((now) => ({ dialogs: now.dialogs.filter((one) => one !== own) }));
  }, [own]);
  return <Region here={dialogs.at(-1) === own} />;
}

/** The live region must exist before its first notice. Otherwise screen readers would not read the notice out. */
function Region({ here }: { here: boolean }) {
  const { notices } = useNotices();
  return (
    <div className={css.notices} aria-live="polite" {...(here && { role: 'region', 'aria-label': say.notices })}>
      {here &&
        notices.map(({ id, kind, text, action }) => (
          <div key={id} className={classes(css.notice, css[kind])}>
            {kind === 'done' ? <CircleCheck size={14} aria-hidden /> : <CircleAlert size={14} aria-hidden />}
            <p>{text}</p>
            {action && (
              <Button
                ref={leaveFocus}
                look="link"
                onClick={() => {
                  dismiss(id);
                  action.run();
                }}
              >
                {action.label}
              </Button>
            )}
            <IconButton ref={leaveFocus} small label={say.dismiss} onClick={() => dismiss(id)}>
              <X size={14} aria-hidden />
            </IconButton>
          </div>
        ))}
    </div>
  );
}
