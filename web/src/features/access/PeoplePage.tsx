import { useEffect, useState } from 'react';
import { useRights } from '../../api/rights';
import { peoplePage as say } from '../../texts/access';
import { Column, Page } from '../../frame/Page';
import { Invitations, InviteDialog } from './Invitations';
import { Members } from './Members';
import { Roles } from './Roles';

/** Lists the members and open invitations of the workspace. */
export function PeoplePage() {
  const { may } = useRights();
  const [inviting, setInviting] = useState(false);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <Members invite={may('admin') ? () => setInviting(true) : undefined} />
        {may('admin') && <Invitations />}
        <Roles />
        {inviting && <InviteDialog onClose={() => setInviting(false)} />}
      </Column>
    </Page>
  );
}
