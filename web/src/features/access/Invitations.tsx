import { useState } from 'react';
import { explain } from '../../api/http';
import { refreshInvitations, useInvitations } from '../../api/queries';
import type { Invitation, NewInvitation, Role } from '../../api/types';
import { createInvitation, revokeInvitation } from '../../api/verbs';
import { notify } from '../../state/notices';
import { invitations as say } from '../../texts/access';
import { common } from '../../texts/common';
import { day } from '../../texts/format';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Dialog } from '../../ui/Dialog';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { leaveFocus } from '../../ui/focusBack';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';
import entries from '../../ui/Entries.module.css';
import { roles } from './roles';
import css from './TokensPage.module.css';

/** One-time links that add members to the workspace. */
export function Invitations() {
  const found = useInvitations(true);
  const [making, setMaking] = useState(false);
  const open = found.data ?? [];
  return (
    <section className={entries.section}>
      <div className={entries.head}>
        <div>
          <h2>{say.invitations}</h2>
          <p className={entries.lead}>{say.lead}</p>
        </div>
        <Button look="primary" onClick={() => setMaking(true)}>
          {say.invite}
        </Button>
      </div>
      {found.isPending && <Waiting shape="rows" what={say.theInvitations} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {found.isSuccess && open.length === 0 && <p className={entries.lead}>{say.noneIsOpen}</p>}
      {open.length > 0 && (
        <ul className={entries.list} aria-label={say.invitations}>
          {open.map((invitation) => (
            <Row key={invitation.id} invitation={invitation} />
          ))}
        </ul>
      )}
      {making && <InviteDialog onClose={() => setMaking(false)} />}
    </section>
  );
}

function Row({ invitation }: { invitation: Invitation }) {
  const { id, note, role, createdBy, expiresAt } = invitation;
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
    <li className={entries.row}>
      <div className={entries.about}>
        <strong>{note === '' ? role : note}</strong>
        <small>{say.facts(role, createdBy, day(expiresAt))}</small>
      </div>
      <Button
        ref={leaveFocus}
        aria-label={note === '' ? say.withdrawForRole(role) : say.withdrawFor(note)}
        onClick={() => void revoke()}
      >
        {say.withdraw}
      </Button>
    </li>
  );
}

function InviteDialog({ onClose }: { onClose: () => void }) {
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
                {value}
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
