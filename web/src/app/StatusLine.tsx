import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useCapabilities } from '../api/queries';
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
          title={sandbox.missing.length > 0 ? `Missing: ${sandbox.missing.join(', ')}` : undefined}
        >
          Sandbox: {sandbox.level}
          {sandbox.missing.length > 0 && `, ${sandbox.missing.length} missing`}
        </Link>
      )}
      <span className={online ? undefined : css.offline}>{online ? 'Connected' : 'No network'}</span>
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
