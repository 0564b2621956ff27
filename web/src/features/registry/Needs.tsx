import type { ReactNode } from 'react';
import type { Version } from '../../api/types';
import { bytes, milliseconds } from '../../texts/format';
import { needs as say } from '../../texts/registry';
import sheet from '../../ui/Sheet.module.css';
import css from './ListedPage.module.css';

/** Shows the capabilities and secrets that the agent needs, so that the user can read them before copying the agent. */
export function Needs({ version }: { version: Version }) {
  const { capabilities, secrets, environment, packages, safetyFlags, limits } = version;
  const flags = safetyFlags.filter((flag) => flag !== 'none');
  return (
    <section className={sheet.section} aria-labelledby="needs">
      <h2 id="needs">{say.requirements}</h2>
      <dl className={css.facts}>
        <Fact term={say.network}>{names(capabilities.hosts, say.off)}</Fact>
        <Fact term={say.secrets}>{names(secrets, say.none)}</Fact>
        {Object.keys(environment).length > 0 && (
          <Fact term={say.environment}>{names(Object.keys(environment), '')}</Fact>
        )}
        {packages.length > 0 && <Fact term={say.packages}>{names(packages, '')}</Fact>}
        {capabilities.subprocess && <Fact term={say.processes}>{say.startsOthers}</Fact>}
        <Fact term={say.safetyFlags}>
          {flags.length === 0 ? say.none : flags.map((flag) => say.flags(flag)).join(', ')}
        </Fact>
        <Fact term={say.limits}>
          {say.limitsOf(
            limits.timeoutMs === 0 ? say.serverDefault : milliseconds(limits.timeoutMs),
            limits.memoryBytes === 0 ? say.serverDefault : bytes(limits.memoryBytes),
          )}
        </Fact>
      </dl>
    </section>
  );
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const names = (all: string[], none: string): ReactNode =>
  all.length === 0 ? (
    none
  ) : (
    <ul>
      {all.map((one) => (
        <li key={one}>
          <code>{one}</code>
        </li>
      ))}
    </ul>
  );
