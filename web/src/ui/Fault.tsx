import field from './Field.module.css';

/** An error message that screen readers announce at once. */
export function Fault({ message }: { message: string | undefined }) {
  if (message === undefined) return null;
  return (
    <p role="alert" className={field.error}>
      {message}
    </p>
  );
}
