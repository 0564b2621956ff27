import { useState, type SyntheticEvent } from 'react';
import { explain } from '../../api/http';
import { refreshInvitations, useInvitations } from '../../api/queries';
import type { Invitation, NewInvitation, Role } from '../../api/types';
import { createInvitation, revokeInvitation } from '../../api/verbs';
import { notify } from '../../app/noticeStore';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Dialog } from '../../ui/Dialog';
import { Waiting } from '../../ui/Empty';
import { Fault } from '../../ui/Fault';
import { Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import { roles } from './roles';
import css from './TokensPage.module.css';

/** One-time links by which others become members. */
export function Invitations() {
  const found = useInvitations(true);
  const [making, setMaking] = useState(false);
  const open = found.data ?? [];
  return (
    <section className={css.section}>
      <div className={css.head}>
        <div>
          <h2>Invitations</h2>
          <p className={css.lead}>A link that makes one person a member, once, within a week.</p>
        </div>
        <Button look="primary" onClick={() => setMaking(true)}>
          Invite…
        </Button>
      </div>
      {found.isPending && <Waiting what="the invitations" onRetry={() => void found.refetch()} />}
      <Fault message={found.isError ? `The invitations could not be loaded. ${found.error.message}` : undefined} />
      {found.isSuccess && open.length === 0 && <p className={css.lead}>No invitation is open.</p>}
      {open.length > 0 && (
        <ul className={css.list} aria-label="Invitations">
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
  const name = note === '' ? `a ${role}` : note;
  const revoke = async (): Promise<void> => {
    try {
      await revokeInvitation(id);
      notify('done', `Took the invitation for ${name} back`);
    } catch (error) {
      notify('failed', explain(error));
    }
    await refreshInvitations();
  };
  return (
    <li className={css.row}>
      <div className={css.about}>
        <strong>{note === '' ? role : note}</strong>
        <small>{[role, `by ${createdBy}`, `until ${expiresAt.slice(0, 10)}`].join(' · ')}</small>
      </div>
      <Button aria-label={`Take back the invitation for ${name}`} onClick={() => void revoke()}>
        Take back
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
  const submit = (e: SyntheticEvent): void => {
    e.preventDefault();
    task.run(async () => {
      const made = await createInvitation(role, note.trim());
      await refreshInvitations();
      onMade(made);
    });
  };
  return (
    <Dialog
      medium
      title="Invite somebody"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="invite" disabled={task.busy}>
            Make the link
          </Button>
        </>
      }
    >
      <form id="invite" className={css.form} onSubmit={submit}>
        <Field label="Role" hint={roles.find(([value]) => value === role)?.[1]}>
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
        <Field label="For" hint="A note on whom it is for. The link does not hold anybody else off.">
          {(control) => (
            <input
              {...control}
              maxLength={200}
              value={note}
              autoComplete="off"
              onChange={(e) => setNote(e.target.value)}
            />
          )}
        </Field>
        <Fault message={task.fault} />
      </form>
    </Dialog>
  );
}

function Made({ link, onClose }: { link: string; onClose: () => void }) {
  return (
    <Dialog
      medium
      title="The invitation"
      about="Send the link to one person: it is shown this once, and whoever opens it first becomes a member."
      foot={
        <>
          <CopyButton text={link} label="Copy the link" wording="Copy" />
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <output className={css.secret} aria-label="Link">
        {link}
      </output>
    </Dialog>
  );
}
