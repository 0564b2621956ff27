import { Hourglass } from 'lucide-react';
import { useState } from 'react';
import { explain } from '../../api/http';
import { refreshInvitations, useInvitations } from '../../api/queries';
import type { Invitation, NewInvitation, Role } from '../../api/types';
import { createInvitation, revokeInvitation } from '../../api/verbs';
import { notify } from '../../state/notices';
import { invitations as say, roleNames } from '../../texts/access';
import { common } from '../../texts/common';
import { moment } from '../../texts/format';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { Dialog } from '../../ui/Dialog';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { leaveFocus } from '../../ui/focusBack';
import { StateMark } from '../../ui/StateMark';
import { Steps } from '../../ui/Steps';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import entries from '../../ui/Entries.module.css';
import { roleIcons, roles } from './roles';
import css from './TokensPage.module.css';

/** Lists one-time links with which people join the workspace. */
export function Invitations() {
  const found = useInvitations(true);
  const [now] = useState(() => Date.now());
  const open = found.data ?? [];
  return (
    <section className={entries.section}>
      <div>
        <h2>{say.invitations}</h2>
        <p className={entries.lead}>{say.lead}</p>
      </div>
      {found.isPending && <Waiting shape="rows" what={say.theInvitations} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {found.isSuccess && open.length === 0 && (
        <Steps title={say.noneIsOpen}>
          {say.inviteThem}
          {say.sendIt}
          {say.joined}
        </Steps>
      )}
      {open.length > 0 && (
        <DataTable
          label={say.invitations}
          middle
          items={open}
          columns={columnsOf(now)}
          rowKey={({ id }) => id}
          words={({ note, role, createdBy }) => `${note} ${role} ${createdBy}`}
        />
      )}
    </section>
  );
}

const aDay = 86_400_000;

const columnsOf = (now: number): TableColumn<Invitation>[] => [
  {
    key: 'for',
    title: say.for,
    by: ({ note }) => note,
    cell: ({ note }) => <strong>{note === '' ? say.anyone : note}</strong>,
  },
  {
    key: 'role',
    title: say.role,
    by: ({ role }) => role,
    cell: ({ role }) => (
      <StateMark look="quiet" icon={roleIcons[role]}>
        {roleNames[role]}
      </StateMark>
    ),
  },
  { key: 'by', title: say.by, by: ({ createdBy }) => createdBy, cell: ({ createdBy }) => createdBy },
  {
    key: 'ends',
    title: say.ends,
    by: ({ expiresAt }) => Date.parse(expiresAt),
    cell: ({ expiresAt }) => {
      const days = Math.ceil((Date.parse(expiresAt) - now) / aDay);
      return (
        <span title={moment(expiresAt)}>
          <StateMark look={days <= 1 ? 'warn' : 'quiet'} icon={Hourglass}>
            {say.endsIn(days)}
          </StateMark>
        </span>
      );
    },
  },
  { key: 'acts', title: say.actions, acts: true, cell: (invitation) => <Withdraw invitation={invitation} /> },
];

function Withdraw({ invitation: { id, note, role } }: { invitation: Invitation }) {
  const revoke = async (): Promise<void> => {
    try {
      await revokeInvitation(id);
      notify('done', note === '' ? say.withdrewForRole(role) : say.withdrew(note));
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshInvitations();
  };
  return (
    <Button
      ref={leaveFocus}
      aria-label={note === '' ? say.withdrawForRole(role) : say.withdrawFor(note)}
      onClick={() => void revoke()}
    >
      {say.withdraw}
    </Button>
  );
}

/** Asks for a role and a note, and then shows the link once. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<NewInvitation>();
  return made === undefined ? <Ask onMade={setMade} onClose={onClose} /> : <Made link={made.link} onClose={onClose} />;
}

function Ask({ onMade, onClose }: { onMade: (made: NewInvitation) => void; onClose: () => void }) {
  const [role, setRole] = useState<Role>('developer');
  const [note, setNote] = useState('');
  const task = useTask();
  const submit = (): void => {
    task.run(async () => {
      const made = await createInvitation(role, note.trim());
      await refreshInvitations();
      onMade(made);
    });
  };
  return (
    <FormDialog
      title={say.inviteSomebody}
      verb={say.makeTheLink}
      busy={task.busy}
      fault={task.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={say.role} hint={roles.find(([value]) => value === role)?.[1]}>
        {(control) => (
          <select {...control} value={role} onChange={(e) => setRole(e.target.value as Role)}>
            {roles.map(([value]) => (
              <option key={value} value={value}>
                {roleNames[value]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TextField label={say.for} hint={say.forHint} maxLength={200} value={note} onChange={setNote} />
    </FormDialog>
  );
}

function Made({ link, onClose }: { link: string; onClose: () => void }) {
  return (
    <Dialog
      medium
      title={say.theInvitation}
      about={say.theInvitationAbout}
      foot={
        <>
          <CopyButton text={link} label={say.copyTheLink} wording={say.copy} />
          <Button look="primary" onClick={onClose}>
            {common.done}
          </Button>
        </>
      }
    >
      <output className={css.secret} aria-label={say.link}>
        {link}
      </output>
    </Dialog>
  );
}
