import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { copyText } from '../state/clipboard';
import { copyButton as say } from '../texts/ui';
import { Button, IconButton } from './Button';

/** Copies a text and then shows that it was copied. With `wording` the button has a label, otherwise an icon. */
export function CopyButton({
  text,
  label,
  wording,
}: {
  text: string | (() => string);
  label: string;
  wording?: string;
}) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = (): void => void copyText(typeof text === 'string' ? text : text()).then(setDone);
  const icon = done ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />;
  const said = (
    <span role="status" className="visually-hidden">
      {done ? say.copied : ''}
    </span>
  );
  if (wording === undefined) {
    return (
      <>
        <IconButton small label={label} onClick={copy}>
          {icon}
        </IconButton>
        {said}
      </>
    );
  }
  return (
    <>
      <Button aria-label={label} onClick={copy}>
        {icon}
        {done ? say.copied : wording}
      </Button>
      {said}
    </>
  );
}
