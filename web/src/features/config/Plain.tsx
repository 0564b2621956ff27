import { plain as say } from '../../texts/config';
import field from '../../ui/Field.module.css';
import css from './ConfigPanel.module.css';

interface Props {
  label: string;
  text: string;
  mono?: boolean;
}

/** Shows a value that the user cannot edit here, such as a setting of a published version. */
export function Plain({ label, text, mono = false }: Props) {
  return (
    <dl className={field.field}>
      <dt className={field.label}>{label}</dt>
      <dd className={css.plain} data-mono={mono} data-empty={text === ''}>
        {text === '' ? say.none : text}
      </dd>
    </dl>
  );
}
