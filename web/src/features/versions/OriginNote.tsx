import { Link } from 'wouter';
import type { Agent } from '../../api/types';
import { originNote as say } from '../../texts/versions';
import css from './OriginNote.module.css';

/** Where the agent was copied from, and whether there is something newer. */
export function OriginNote({ agent: { origin } }: { agent: Agent }) {
  if (!origin) return null;
  const newer = origin.newer ?? '';
  return (
    <p className={newer === '' ? css.quiet : css.newer}>
      {say.copiedFrom(origin.name, origin.version)}
      {newer !== '' && (
        <>
          {' '}
          <strong>{say.newerVersionAtOrigin(newer)}</strong> <Link href="/registry">{say.lookAtIt}</Link>
        </>
      )}
    </p>
  );
}
