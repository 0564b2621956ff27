import { BookOpen, FileArchive, FileJson, Package, Sparkles, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useCapabilities, useSamples } from '../../api/queries';
import { useRights } from '../../api/rights';
import { createFromSample } from '../../agent/create';
import { closeDialog, showDialog, useCloseOwn } from '../../state/dialogs';
import { agentUrl } from '../../state/urlState';
import { importToolDialog, newAgentDialog as say } from '../../texts/agents';
import { describeDialog } from '../../texts/assist';
import { Button } from '../../ui/Button';
import { Fault } from '../../ui/Fault';
import { Menu } from '../../ui/Menu';
import { useTask } from '../../ui/useTask';
import css from './NewAgentDialog.module.css';

/** Shows other ways to create an agent: from a sample, a description, a tool, an archive or the registry. */
export function OtherStarts({ name }: { name: string }) {
  const model = useCapabilities().data?.languageModel !== undefined;
  const { may } = useRights();
  const [, navigate] = useLocation();
  return (
    <section className={css.others} aria-labelledby="other-starts">
      <h3 id="other-starts" className={css.legend}>
        {say.orStartFrom}
      </h3>
      <ul>
        <Samples />
        {model && (
          <Start icon={Sparkles} hint={say.describeHint}>
            <Button onClick={() => showDialog({ kind: 'describe', name })}>{describeDialog.button}</Button>
          </Start>
        )}
        <Start icon={FileJson} hint={say.toolHint}>
          <Button onClick={() => showDialog({ kind: 'importTool' })}>{importToolDialog.open}</Button>
        </Start>
        {may('approve') && (
          <Start icon={FileArchive} hint={say.archiveHint}>
            <Button onClick={() => showDialog({ kind: 'import' })}>{say.archive}</Button>
          </Start>
        )}
        <Start icon={Package} hint={say.registryHint}>
          <Button
            onClick={() => {
              closeDialog();
              navigate('/registry');
            }}
          >
            {say.registry}
          </Button>
        </Start>
      </ul>
    </section>
  );
}

function Start({ icon: Icon, hint, children }: { icon: LucideIcon; hint: string; children: ReactNode }) {
  return (
    <li>
      <Icon size={16} aria-hidden />
      <span>{hint}</span>
      {children}
    </li>
  );
}

function Samples() {
  const samples = useSamples().data ?? [];
  const [, navigate] = useLocation();
  const task = useTask();
  const closeOwn = useCloseOwn();
  if (samples.length === 0) return null;
  return (
    <Start icon={BookOpen} hint={say.sampleHint}>
      <Menu
        trigger={<Button disabled={task.busy}>{say.sample}</Button>}
        entries={samples.map((sample) => ({
          kind: 'item',
          label: sample.title,
          run: () =>
            task.run(async () => {
              const agent = await createFromSample(sample);
              if (closeOwn()) navigate(agentUrl(agent.name));
            }),
        }))}
      />
      <Fault message={task.fault} />
    </Start>
  );
}
