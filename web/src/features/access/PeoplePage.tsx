import { useEffect } from 'react';
import { useRights } from '../../api/rights';
import { peoplePage as say } from '../../texts/access';
import { Column, Page } from '../../frame/Page';
import { Invitations } from './Invitations';
import { Members } from './Members';

/** Lists the members and open invitations of the workspace. */
export function PeoplePage() {
  const { may } = useRights();
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <Members />
        {may('admin') && <Invitations />}
      </Column>
    </Page>
  );
}
