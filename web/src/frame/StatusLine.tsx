import { Link } from 'wouter';
import { useCapabilities } from '../api/queries';
import { statusLine as say } from '../texts/app';
import { useConnection } from '../state/online';
import css from './StatusLine.module.css';

/** The status of the server: its connection and isolation. */
export function ServerStatus() {
  const capabilities = useCapabilities();
  const connection = useConnection();
  const sandbox = capabilities.data?.sandbox;
  return (
    <>
      <span className={css.grow} />
      {sandbox && (
        <Link
          href="/server"
          className={css.link}
          title={sandbox.missing.length > 0 ? say.missing(sandbox.missing.join(', ')) : undefined}
        >
          {say.sandbox(sandbox.level, sandbox.missing.length)}
        </Link>
      )}
      <span className={connection === 'connected' ? undefined : css.offline}>{say[connection]}</span>
    </>
  );
}
