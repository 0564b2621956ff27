import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { IconButton } from './Button';
import { classes } from './classes';
import css from './Dialog.module.css';

interface Props {
  title: string;
  about?: ReactNode;
  wide?: boolean;
  /** Without it the dialog must be answered. */
  onClose?: () => void;
  children: ReactNode;
  foot?: ReactNode;
}

/** A modal dialog; it is open as long as it is rendered. */
export function Dialog({ title, about, wide, onClose, children, foot }: Props) {
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose?.()}>
      <Radix.Portal>
        <Radix.Overlay className={css.veil} />
        <Radix.Content
          className={classes(css.dialog, wide && css.wide)}
          {...(about === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <div className={css.head}>
            <Radix.Title className={css.title}>{title}</Radix.Title>
            {onClose && (
              <Radix.Close asChild>
                <IconButton label="Close" small>
                  <X size={16} aria-hidden />
                </IconButton>
              </Radix.Close>
            )}
          </div>
          {about !== undefined && <Radix.Description className={css.about}>{about}</Radix.Description>}
          <div className={css.body}>{children}</div>
          {foot !== undefined && <div className={css.foot}>{foot}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
