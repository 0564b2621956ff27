import { common } from '../texts/common';
import { Button } from './Button';
import { leaveFocus } from './focusBack';

interface Props {
  look?: 'plain' | 'link';
  onRetry: () => void;
}

/** Asks again for what is not here. It goes as that is asked for or comes, and then the part that it was in has the focus. */
export function Retry({ look = 'plain', onRetry }: Props) {
  return (
    <Button ref={leaveFocus} look={look} onClick={onRetry}>
      {common.retry}
    </Button>
  );
}
