import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { notices as say } from '../texts/app';
import { Button, IconButton } from '../ui/Button';
import { classes } from '../ui/classes';
import { leaveFocus } from '../ui/focusBack';
import css from './Notices.module.css';
import { dismiss, useNotices } from './noticeStore';

export function Notices() {
  const { notices } = useNotices();
  return (
    <div className={css.notices} role="region" aria-label={say.notices} aria-live="polite">
      {notices.map(({ id, kind, text, action }) => (
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
