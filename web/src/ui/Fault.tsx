import field from './Field.module.css';

/** Why something did not work, said at once. */
export function Fault({ message }: { message: string | undefined }) {
  if (message === undefined) return null;
  return (
    <p role="alert" className={field.error}>
      {message}
    </p>
  );
}
