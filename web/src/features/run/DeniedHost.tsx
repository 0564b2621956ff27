import { useState } from 'react';
import { showDialog } from '../../state/dialogs';
import { showRight } from '../../state/layout';
import { deniedHost as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { useOpenAgent } from '../../agent/openAgent';
import { hostProblems, withHosts } from '../../agent/hosts';
import css from './ResultTab.module.css';
import { StartButton } from './StartButton';

/** Offers to add a denied host to the allowed hosts. The button changes the draft and shows a notice. */
export function DeniedHost({ hosts }: { hosts: readonly string[] }) {
  const { fields, save, session, latestVersion } = useOpenAgent();
  const [asked, setAsked] = useState(false);
  const granted = fields.capabilities.hosts;
  const names = hosts.join(', ');
  if (!session) return null;
  if (!hosts.every((host) => granted.includes(host))) {
    const allow = (): void => {
      setAsked(true);
      session.editDraft({ capabilities: { ...fields.capabilities, hosts: withHosts(granted, hosts) } });
      showRight('network');
    };
    return (
      <div className={css.actions}>
        <Button onClick={allow}>{say.allow(names)}</Button>
      </div>
    );
  }
  const problems = hostProblems(save, granted);
  if (problems.length > 0) return <p className={css.remedy}>{say.notSaved(problems.join(' '))}</p>;
  return (
    <div role="status" className={css.granted}>
      <p className={css.grant}>{say.granted(<ins>+ {names}</ins>)}</p>
      <p className={css.remedy}>
        {asked ? say.draftMayReachItNow : say.draftMayReachIt}{' '}
        {latestVersion !== '' && say.versionMayNot(latestVersion)}
      </p>
      <div className={css.actions}>
        <StartButton wording={say.runAgain} />
        {latestVersion !== '' && (
          <Button look="link" onClick={() => showDialog({ kind: 'compare', from: latestVersion, to: 'draft' })}>
            {say.showWhatChanged}
          </Button>
        )}
      </div>
    </div>
  );
}
