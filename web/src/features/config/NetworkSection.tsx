import { useState } from 'react';
import { networkSection as say } from '../../texts/config';
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
      title={say.network}
      summary={hosts.length === 0 ? say.off : say.hosts(hosts.length)}
      wrong={problems.length > 0}
    >
      <Field
        label={say.hostsOneALine}
        mono
        id="capability-hosts"
        error={problems.length === 0 ? undefined : problems.join(' ')}
        hint={say.hostsOneALineHint}
      >
        {(control) => (
          <textarea
            {...control}
            rows={Math.min(8, Math.max(2, text.split('\n').length))}
            spellCheck={false}
            autoComplete="off"
            placeholder={say.placeholder}
            readOnly={session === undefined}
            value={text}
            onChange={(e) => change(e.target.value)}
          />
        )}
      </Field>
    </Section>
  );
}
