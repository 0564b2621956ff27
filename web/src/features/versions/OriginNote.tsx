import { Link } from 'wouter';
import type { Agent } from '../../api/types';
import css from './OriginNote.module.css';

/** Where the agent was copied from, and whether there is something newer. */
export function OriginNote({ agent: { origin } }: { agent: Agent }) {
  if (!origin) return null;
  const newer = origin.newer ?? '';
  return (
    <p className={newer === '' ? css.quiet : css.newer}>
      Copied from {origin.name} {origin.version} of the public registry.
      {newer !== '' && (
        <>
          {' '}
          <strong>Newer version at origin: {newer}.</strong> <Link href="/registry">Look at it in the registry</Link>
        </>
      )}
    </p>
  );
}
