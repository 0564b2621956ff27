import { networkSection as say } from '../../texts/config';
import { useOpenAgent } from '../../agent/openAgent';
import { hostProblems } from '../../agent/hosts';
import { LinesField } from './LinesField';
import { Section } from './Section';

/** Edits the allowed hosts of the program. Without a host the program has no network. */
export function NetworkSection() {
  const { fields, save, session } = useOpenAgent();
  const { hosts } = fields.capabilities;
  const problems = hostProblems(save, hosts);
  return (
    <Section
      id="network"
      title={say.network}
      summary={hosts.length === 0 ? say.off : say.hosts(hosts.length)}
      wrong={problems.length > 0}
    >
      <LinesField
        id="capability-hosts"
        label={say.hostsOneALine}
        hint={say.hostsOneALineHint}
        placeholder={say.placeholder}
        error={problems.length === 0 ? undefined : problems.join(' ')}
        lines={hosts}
        onChange={session && ((next) => session.editDraft({ capabilities: { ...fields.capabilities, hosts: next } }))}
      />
    </Section>
  );
}
