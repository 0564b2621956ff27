import { Link } from 'wouter';
import type { Agent } from '../api/types';
import { originNote as say } from '../texts/versions';
import { listedUrl } from '../state/registryUrl';
import css from './OriginNote.module.css';

/**
 * Shows from which agent of the public registry the open agent was copied, and whether that agent has a newer version.
 */
export function OriginNote({ agent: { origin } }: { agent: Agent }) {
  if (!origin) return null;
  const { name, newer = '', publisher = '' } = origin;
  return (
    <p className={newer === '' ? css.quiet : css.newer}>
      {say.copiedFrom(name, origin.version)}
      {newer !== '' && (
        <>
          {' '}
          <strong>{say.newerVersionAtOrigin(newer)}</strong>{' '}
          <Link href={listedUrl(publisher, name, { version: newer })}>{say.lookAtIt}</Link>
        </>
      )}
    </p>
  );
}
