import { useState } from 'react';
import { explain } from '../../api/http';
import { keys, queryClient, refreshMembers, useMembers, useSession } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Member, Role } from '../../api/types';
import { removeMember, setRole } from '../../api/verbs';
import { notify } from '../../state/notices';
import { members as say, roleNames } from '../../texts/access';
import { day } from '../../texts/format';
import { Avatar } from '../../ui/Avatar';
import { Button } from '../../ui/Button';
import { classes } from '../../ui/classes';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { Shares, type Share, type ShareLook } from '../../ui/Shares';
import { StateMark } from '../../ui/StateMark';
import { Waiting } from '../../ui/Waiting';
import field from '../../ui/Field.module.css';
import entries from '../../ui/Entries.module.css';
import { RenameWorkspaceDialog } from './RenameWorkspaceDialog';
import css from './Members.module.css';
import { roleIcons, roles } from './roles';

/** Lists the members of the workspace. Administrators can change their roles. */
export function Members({ invite }: { invite: (() => void) | undefined }) {
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
        <div className={entries.acts}>
          {may('admin') && <Button onClick={() => setRenaming(true)}>{say.renameTheWorkspace}</Button>}
          {invite && (
            <Button ref={leaveFocus} look="primary" onClick={invite}>
              {say.invite}
            </Button>
          )}
        </div>
      </div>
      {renaming && workspace && <RenameWorkspaceDialog workspace={workspace} onClose={() => setRenaming(false)} />}
      {found.isPending && <Waiting shape="rows" what={say.thePeople} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {members.length > 1 && <Shares label={say.byRole} shares={sharesOf(members)} />}
      {members.length > 0 && (
        <DataTable
          label={say.people}
          middle
          items={members}
          columns={columnsOf(session.data?.actor.id, isLastAdministrator(members))}
          rowKey={({ id }) => id}
          words={({ name, title, role }) => `${name} ${title} ${role}`}
        />
      )}
    </section>
  );
}

const looks: Record<Role, ShareLook> = { viewer: 'd', developer: 'a', approver: 'c', administrator: 'b' };

const sharesOf = (members: readonly Member[]): Share[] =>
  roles.map(([role]) => {
    const count = members.filter((member) => member.role === role).length;
    return { key: role, label: say.ofRole(role, count), count, look: looks[role], icon: roleIcons[role] };
  });

type Test = (member: Member) => boolean;

/** A workspace keeps one administrator: the server refuses to remove the last one or to change the role. */
const isLastAdministrator = (members: readonly Member[]): Test => {
  const administrators = members.filter(({ role }) => role === 'administrator');
  return ({ role }) => role === 'administrator' && administrators.length === 1;
};

const columnsOf = (me: string | undefined, isLast: Test): TableColumn<Member>[] => [
  {
    key: 'name',
    title: say.name,
    by: ({ title }) => title,
    cell: ({ id, title }) => (
      <div className={css.person}>
        <Avatar name={title} />
        <div>
          <strong>{title}</strong>
          {id === me && <small>{say.you}</small>}
        </div>
      </div>
    ),
  },
  { key: 'signInName', title: say.signInName, by: ({ name }) => name, cell: ({ name }) => name },
  {
    key: 'role',
    title: say.role,
    by: ({ role }) => role,
    cell: (member) => <RoleOf member={member} last={isLast(member)} />,
  },
  {
    key: 'since',
    title: say.since,
    by: ({ since }) => -Date.parse(since),
    cell: ({ since }) => day(since),
  },
  { key: 'acts', title: say.actions, acts: true, cell: (member) => !isLast(member) && <Remove member={member} /> },
];

async function act(verb: () => Promise<unknown>, done: string): Promise<void> {
  try {
    await verb();
    notify('done', done);
  } catch (error) {
    notify('failed', explain(error));
  }
  await Promise.all([refreshMembers(), queryClient.invalidateQueries({ queryKey: keys.session })]);
}

function RoleOf({ member: { id, title, role }, last }: { member: Member; last: boolean }) {
  const { may } = useRights();
  if (!may('admin') || last) {
    return (
      <>
        <StateMark look="quiet" icon={roleIcons[role]}>
          {roleNames[role]}
        </StateMark>
        {may('admin') && <small>{say.lastAdministrator}</small>}
      </>
    );
  }
  return (
    <select
      className={classes(field.control, css.role)}
      aria-label={say.roleOf(title)}
      value={role}
      onChange={(e) => void act(() => setRole(id, e.target.value as Role), say.roleIsNow(title, e.target.value))}
    >
      {roles.map(([value]) => (
        <option key={value} value={value}>
          {roleNames[value]}
        </option>
      ))}
    </select>
  );
}

function Remove({ member: { id, title } }: { member: Member }) {
  const { may } = useRights();
  const [asked, setAsked] = useState(false);
  if (!may('admin')) return null;
  return (
    <>
      <Button ref={leaveFocus} aria-label={say.remove(title)} onClick={() => setAsked(true)}>
        {say.removeButton}
      </Button>
      {asked && (
        <ConfirmDialog
          title={say.removeTitle(title)}
          about={say.removeAbout}
          verb={say.removeVerb}
          onClose={() => setAsked(false)}
          onConfirm={() => void act(() => removeMember(id), say.removed(title))}
        />
      )}
    </>
  );
}
