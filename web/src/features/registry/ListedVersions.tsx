import { useState } from 'react';
import { Link } from 'wouter';
import type { ListedAgent } from '../../api/types';
import { ago } from '../../texts/format';
import { listedVersions as say } from '../../texts/registry';
import sheet from '../../ui/Sheet.module.css';
import css from '../../agent/Versions.module.css';
import { listedUrl } from '../../state/registryUrl';

/** Shows the changelog, newest version first. */
export function ListedVersions({ agent, shown }: { agent: ListedAgent; shown: string }) {
  const { publisher, name, latestVersion, versions } = agent;
  const [now] = useState(() => Date.now());
  return (
    <section className={sheet.section} aria-labelledby="versions">
      <h2 id="versions">{say.versions}</h2>
      <ul className={css.versions} aria-label={say.versionsOf(name)}>
        {versions.map(({ version, deprecated, reason = '', changelog, publishedAt, runtime }) => (
          <li key={version}>
            <div className={css.number}>
              <Link
                href={listedUrl(publisher, name, { version })}
                aria-current={version === shown ? 'true' : undefined}
              >
                {version}
              </Link>
              {version === latestVersion && <span className={css.badge}>{say.latest}</span>}
              {deprecated && <span className={css.warnBadge}>{say.deprecated}</span>}
            </div>
            <div className={css.what}>
              {deprecated && <p className={css.warn}>{reason === '' ? say.noReasonWasGiven : reason}</p>}
              <p className={css.changes}>
                {changelog === '' ? <span className={sheet.quiet}>{say.noChangelog}</span> : changelog}
              </p>
              <small>
                {ago(publishedAt, now)} · {runtime}
              </small>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
