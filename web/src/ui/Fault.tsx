import field from './Field.module.css';

/** An error message that screen readers read out immediately. */
export function Fault({ message }: { message: string | undefined }) {
  if (message === undefined) return null;
  return (
    <p role="alert" className={field.error}>
      {message}
    </p>
  );
}
