import { useHealth } from '../../api/queries';
import { basePath } from '../../api/base';
import { about as say } from '../../texts/settings';
import { Waiting } from '../../ui/Waiting';
import { NotLoaded } from '../../ui/NotLoaded';
import css from './SettingsPage.module.css';

export function About() {
  const health = useHealth();
  return (
    <>
      {health.isPending && <Waiting shape="text" what={say.theVersion} retry />}
      <NotLoaded found={health} why={say.notLoaded} />
      {health.data && <p>{say.version(health.data.version)}</p>}
      <p className={css.lead}>{say.licences}</p>
      <p className={css.links}>
        <a href={`${basePath}/studio/third-party.txt`}>{say.thirdPartyNotices}</a>
        <a href={`${basePath}/docs`}>{say.theApi}</a>
      </p>
    </>
  );
}
