import { Users } from 'lucide-react';
import { useEffect, useState } from 'react';
import { followAgent, type Person } from '../api/follow';
import { keys, queryClient, refreshFacts, useSession } from '../api/queries';
import { useOpenAgent } from '../agent/openAgent';
import { others as say } from '../texts/agents';
import css from './AgentStatus.module.css';

/** Follows the agent while it is open. It shows the other users who have the agent open, and loads their saves. */
export function Others() {
  const { id, name, session } = useOpenAgent();
  const me = useSession().data?.actor.id;
  const [people, setPeople] = useState<Person[]>([]);
  useEffect(
    () =>
      followAgent(id, {
        draft: (revision) => {
          if (session !== undefined) void session.told(revision);
          else void queryClient.invalidateQueries({ queryKey: keys.agent(name) });
        },
        version: () => refreshFacts(name),
        people: setPeople,
      }),
    [id, name, session],
  );
  const names = people.filter((person) => person.id !== me).map((person) => person.name);
  return (
    <span role="status" className={css.others} title={names.length === 0 ? undefined : say.title(names)}>
      {names.length > 0 && (
        <>
          <Users size={14} aria-hidden />
          <span>{say.here(names)}</span>
        </>
      )}
    </span>
  );
}
