import { useState } from 'react';
import { plural } from '../../app/format';
import { Field } from '../../ui/Field';
import { useOpenAgent } from '../agents/openAgent';
import { hostProblems, sameHosts, toHosts } from './hosts';
import { Section } from './Section';

/** Where the program may go. Nothing else is reached, and without a host nothing at all. */
export function NetworkSection() {
  const { fields, save, session } = useOpenAgent();
  const { hosts } = fields.capabilities;
  const [text, setText] = useState(() => hosts.join('\n'));
  // Changed from outside: another draft was taken, or a denied host allowed.
  if (!sameHosts(toHosts(text), hosts)) setText(hosts.join('\n'));
  const change = (next: string): void => {
    setText(next);
    session?.editDraft({ capabilities: { ...fields.capabilities, hosts: toHosts(next) } });
  };
  const problems = hostProblems(save, hosts);
  return (
    <Section
      id="network"
      title="Network"
      summary={hosts.length === 0 ? 'Off' : plural(hosts.length, 'host')}
      wrong={problems.length > 0}
    >
      <Field
        label="Hosts, one a line"
        mono
        id="capability-hosts"
        error={problems.length === 0 ? undefined : problems.join(' ')}
        hint="host:port. *.example.com:443 is every name beneath example.com; an address of a private network is listed as such."
      >
        {(control) => (
          <textarea
            {...control}
            rows={Math.min(8, Math.max(2, text.split('\n').length))}
            spellCheck={false}
            autoComplete="off"
            placeholder="api.example.com:443"
            readOnly={session === undefined}
            value={text}
            onChange={(e) => change(e.target.value)}
          />
        )}
      </Field>
    </Section>
  );
}
