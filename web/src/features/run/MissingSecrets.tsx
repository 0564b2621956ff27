import { useState } from 'react';
import { useSecrets } from '../../api/queries';
import { useRights } from '../../api/rights';
import { missingSecrets as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { useOpenAgent } from '../../agent/openAgent';
import { SetSecretDialog } from '../../agent/SetSecretDialog';
import { secretOf } from '../../agent/secretNames';
import { StartButton } from './StartButton';

/** Lists the missing secrets because of which the run did not start, each with a button to set it. */
export function MissingSecrets({ names }: { names: string[] }) {
  const { id, name: agent } = useOpenAgent();
  const { mayAnywhere } = useRights();
  const found = useSecrets(mayAnywhere('read'));
  const [asked, setAsked] = useState<string>();
  const missing = names.filter((name) => secretOf(found.data ?? [], name, id) === undefined);
  if (missing.length === 0) return <Empty actions={<StartButton />}>{say.areSet}</Empty>;
  const maySet = mayAnywhere('write');
  return (
    <>
      <Empty
        actions={
          maySet &&
          missing.map((name) => (
            <Button key={name} look="primary" onClick={() => setAsked(name)}>
              {say.set(name)}
            </Button>
          ))
        }
      >
        {say.haveNoValue(missing)} {!maySet && say.mayNotSet}
      </Empty>
      {asked !== undefined && <SetSecretDialog name={asked} agent={agent} onClose={() => setAsked(undefined)} />}
    </>
  );
}
