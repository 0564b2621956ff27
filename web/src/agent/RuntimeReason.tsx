import type { RuntimeChoice } from '../api/types';
import { runtimeReason as say } from '../texts/config';
import css from './RuntimeReason.module.css';

/** Shows why "auto" selected a runtime. */
export function RuntimeReason({ choice }: { choice: RuntimeChoice }) {
  return (
    <p className={css.reason} data-reason={choice.reason} role="note" aria-label={say.runtime}>
      {choice.message}
    </p>
  );
}
