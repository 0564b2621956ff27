import { useState } from 'react';
import { explain } from '../../api/http';
import { keys, queryClient, refreshMembers, useMembers, useSession } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Member, Role } from '../../api/types';
import { removeMember, setRole } from '../../api/verbs';
import { notify } from '../../state/notices';
import { members as say } from '../../texts/access';
import { day } from '../../texts/format';
import { Button } from '../../ui/Button';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import field from '../../ui/Field.module.css';
import entries from '../../ui/Entries.module.css';
import { RenameWorkspaceDialog } from './RenameWorkspaceDialog';
import { roles } from './roles';

/** The members of the workspace. Administrators set their roles. */
export function Members() {
  const found = useMembers();
  const session = useSession();
  const { may } = useRights();
  const [renaming, setRenaming] = useState(false);
  const members = found.data ?? [];
  const workspace = session.data?.workspace;
  return (
    <section className={entries.section}>
      <div className={entries.head}>
        <div>
          <h1>{say.people}</h1>
          <p className={entries.lead}>{say.lead(workspace?.title)}</p>
        </div>
        {may('admin') && <Button onClick={() => setRenaming(true)}>{say.renameTheWorkspace}</Button>}
      </div>
      {renaming && workspace && <RenameWorkspaceDialog workspace={workspace} onClose={() => setRenaming(false)} />}
      {found.isPending && <Waiting shape="rows" what={say.thePeople} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      <ul className={entries.list} aria-label={say.people}>
        {members.map((member) => (
          <Row key={member.id} member={member} me={member.id === session.data?.actor.id} />
        ))}
      </ul>
    </section>
  );
}

function Row({ member, me }: { member: Member; me: boolean }) {
  const { id, name, title, role, since } = member;
  const { may } = useRights();
  const [asked, setAsked] = useState(false);
  const act = async (verb: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await verb();
      notify('done', done);
    } catch (error) {
      notify('failed', explain(error));
    }
    await Promise.all([refreshMembers(), queryClient.invalidateQueries({ queryKey: keys.session })]);
  };
  return (
    <li className={entries.row}>
      <div className={entries.about}>
        <strong>{title}</strong>
        <small>{[name, say.since(day(since)), ...(me ? [say.you] : [])].join(' · ')}</small>
      </div>
      {may('admin') ? (
        <div className={entries.acts}>
          <select
            className={field.control}
            aria-label={say.roleOf(title)}
            value={role}
            onChange={(e) => void act(() => setRole(id, e.target.value as Role), say.roleIsNow(title, e.target.value))}
          >
            {roles.map(([value]) => (
              <option key={value} value={value}>
                {value}
              </option>
            ))}
          </select>
          <Button ref={leaveFocus} aria-label={say.remove(title)} onClick={() => setAsked(true)}>
            {say.removeButton}
          </Button>
        </div>
      ) : (
        <small>{role}</small>
      )}
      {asked && (
        <ConfirmDialog
          title={say.removeTitle(title)}
          about={say.removeAbout}
          verb={say.removeVerb}
          onClose={() => setAsked(false)}
          onConfirm={() => void act(() => removeMember(id), say.removed(title))}
        />
      )}
    </li>
  );
}
