import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useCapabilities } from '../api/queries';
import { statusLine as say } from '../texts/app';
import css from './StatusLine.module.css';

/** What is true of the whole server: whether it is reachable and how well it isolates. */
export function ServerStatus() {
  const capabilities = useCapabilities();
  const online = useOnline();
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
      <span className={online ? undefined : css.offline}>{online ? say.connected : say.noNetwork}</span>
    </>
  );
}

function useOnline(): boolean {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = (): void => setOnline(navigator.onLine);
    window.addEventListener('online', update);
    window.addEventListener('offline', update);
    return () => {
      window.removeEventListener('online', update);
      window.removeEventListener('offline', update);
    };
  }, []);
  return online;
}
