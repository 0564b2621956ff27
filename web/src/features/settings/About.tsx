import { ShieldCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { basePath, serverUrl } from '../../api/base';
import { useCapabilities, useHealth } from '../../api/queries';
import { about as say } from '../../texts/settings';
import { CopyButton } from '../../ui/CopyButton';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { Waiting } from '../../ui/Waiting';
import css from './SettingsPage.module.css';

/** Shows the version and the URL of the server, its sandbox, the API and the licences. */
export function About() {
  const health = useHealth();
  const sandbox = useCapabilities().data?.sandbox;
  return (
    <>
      <p className={css.lead}>{say.lead}</p>
      {health.isPending && <Waiting shape="text" what={say.theVersion} retry />}
      <NotLoaded found={health} why={say.notLoaded} />
      <dl className={css.facts}>
        {health.data && (
          <Fact
            name={say.versionName}
            act={<CopyButton text={say.version(health.data.version)} label={say.copyVersion} />}
          >
            {say.version(health.data.version)}
          </Fact>
        )}
        <Fact name={say.address} act={<CopyButton text={serverUrl()} label={say.copyAddress} />}>
          <code>{serverUrl()}</code>
        </Fact>
        {sandbox && (
          <Fact name={say.sandbox}>
            <Link href="/server">
              <StateMark
                look={sandbox.level === 'full' ? 'ok' : 'warn'}
                icon={sandbox.level === 'full' ? ShieldCheck : TriangleAlert}
              >
                {say.levels[sandbox.level]}
              </StateMark>
            </Link>
          </Fact>
        )}
        <Fact name={say.documentation}>
          <a href={`${basePath}/docs`}>{say.theApi}</a>
        </Fact>
        <Fact name={say.licences}>
          <a href={`${basePath}/studio/third-party.txt`}>{say.thirdPartyNotices}</a>
        </Fact>
      </dl>
    </>
  );
}

function Fact({ name, act, children }: { name: string; act?: ReactNode; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span>{children}</span>
        {act}
      </dd>
    </div>
  );
}
