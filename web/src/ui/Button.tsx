import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { classes } from './classes';
import css from './Button.module.css';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: 'plain' | 'primary' | 'danger' | 'quiet' | 'link';
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = 'plain', className, ...rest }: Props) {
  return <button type="button" {...rest} className={classes(css.button, look !== 'plain' && css[look], className)} />;
}

interface IconProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string;
  small?: boolean;
  children: ReactNode;
  ref?: Ref<HTMLButtonElement>;
}

/** An icon button. Its label is its accessible name and tooltip. */
export function IconButton({ label, small, className, ...rest }: IconProps) {
  const look = classes(css.button, css.icon, small && css.small, className);
  return <button type="button" aria-label={label} title={label} {...rest} className={look} />;
}
