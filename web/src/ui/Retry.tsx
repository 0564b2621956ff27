import { common } from '../texts/common';
import { Button } from './Button';
import { leaveFocus } from './focusBack';

interface Props {
  look?: 'plain' | 'link';
  onRetry: () => void;
}

/** Loads missing data again. When the button disappears, the section that contains it gets the focus. */
export function Retry({ look = 'plain', onRetry }: Props) {
  return (
    <Button ref={leaveFocus} look={look} onClick={onRetry}>
      {common.retry}
    </Button>
  );
}
