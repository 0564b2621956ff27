import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { useState, type ReactNode } from 'react';
import { DialogNotices } from './Notices';
import { dialog as say } from '../texts/ui';
import { IconButton } from './Button';
import { classes } from './classes';
import css from './Dialog.module.css';
import { giveBack, pathOfFocus, rememberPath } from './focusBack';

interface Props {
  title: string;
  about?: ReactNode;
  wide?: boolean;
  medium?: boolean;
  /** Closes the dialog. Without it, the user cannot dismiss the dialog. */
  onClose?: () => void;
  children: ReactNode;
  foot?: ReactNode;
}

/** A modal dialog. It is open while it is rendered. */
export function Dialog({ title, about, wide, medium, onClose, children, foot }: Props) {
  const [before] = useState(pathOfFocus);
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose?.()}>
      <Radix.Portal>
        <Radix.Overlay className={css.veil} />
        <Radix.Content
          ref={(dialog) => {
            if (dialog) rememberPath(dialog, before);
          }}
          onOpenAutoFocus={focusWithin}
          onCloseAutoFocus={(e) => {
            e.preventDefault();
            giveBack(before);
          }}
          className={classes(css.dialog, wide && css.wide, medium && css.medium)}
          {...(about === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <div className={css.head}>
            <Radix.Title className={css.title}>{title}</Radix.Title>
            {onClose && (
              <Radix.Close asChild>
                <IconButton label={say.close} small>
                  <X size={16} aria-hidden />
                </IconButton>
              </Radix.Close>
            )}
          </div>
          {about !== undefined && <Radix.Description className={css.about}>{about}</Radix.Description>}
          <div className={css.body} data-dialog="body">
            {children}
          </div>
          {foot !== undefined && (
            <div className={css.foot} data-dialog="foot">
              {foot}
            </div>
          )}
          <DialogNotices />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * The first field gets the focus instead of the close button. On touch screens it does not, because the keyboard would
 * open.
 */
function focusWithin(e: Event): void {
  const dialog = e.currentTarget;
  if (!(dialog instanceof HTMLElement) || dialog.contains(document.activeElement)) return;
  const finger = matchMedia('(pointer: coarse)').matches;
  const fields = 'input:not([type=radio], [type=checkbox]), select, textarea, [role=tab][tabindex="0"]';
  const seen = (selector: string): HTMLElement | undefined =>
    [...dialog.querySelectorAll<HTMLElement>(selector)].find((e) => e.checkVisibility());
  const first = (finger ? undefined : seen(`[data-dialog=body] :is(${fields})`)) ?? seen('[data-dialog=foot] button');
  if (!first) return;
  e.preventDefault();
  first.focus();
}
