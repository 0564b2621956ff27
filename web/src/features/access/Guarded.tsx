import { useEffect, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useSession } from '../../api/queries';
import { suffices, useRights } from '../../api/rights';
import type { Scope } from '../../api/types';
import { useEnterWorkspace } from '../../state/enterWorkspace';
import { agentUrl } from '../../state/urlState';
import { guarded as say } from '../../texts/guarded';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Page } from '../../frame/Page';

interface Props {
  /** The name of the page's content, for example "Tokens". */
  what: string;
  /** The scope that the page needs for the whole workspace, or the right to run the server. */
  needs: Scope | 'server';
  children: ReactNode;
}

/** Shows the page to users who have the scope. To other users it shows the reason and a link to another page. */
export function Guarded({ what, needs, children }: Props) {
  const { mayAnywhere, runsServer } = useRights();
  const allowed = needs === 'server' ? runsServer : mayAnywhere(needs);
  return allowed ? children : <NotYours what={what} needs={needs} />;
}

function NotYours({ what, needs }: Omit<Props, 'children'>) {
  const [, navigate] = useLocation();
  const { mayAnywhere, may, why } = useRights();
  const { data } = useSession();
  const enter = useEnterWorkspace();
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const others = (data?.workspaces ?? []).filter(
    ({ id, role }) => id !== data?.workspace.id && needs !== 'server' && suffices(role, needs),
  );
  return (
    <Page>
      <Empty
        title={say.noAccess}
        actions={
          <>
            {mayAnywhere('read') && <Button onClick={() => navigate('/')}>{say.allAgents}</Button>}
            {may('read') &&
              data?.agents.map(({ id, name }) => (
                <Button key={id} onClick={() => navigate(agentUrl(name))}>
                  {say.open(name)}
                </Button>
              ))}
            {others.map(({ id, name, title }) => (
              <Button key={id} onClick={() => enter(name)}>
                {say.goTo(title)}
              </Button>
            ))}
            <Button onClick={() => navigate('/server')}>{say.whatThisServerCanDo}</Button>
          </>
        }
      >
        {needs === 'server' ? say.forWhoRunsIt(what) : say.notShown(what, why(needs))}
      </Empty>
    </Page>
  );
}
