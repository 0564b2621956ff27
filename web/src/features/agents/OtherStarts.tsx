import { BookOpen, FileArchive, FileJson, Package, Sparkles, type LucideIcon } from 'lucide-react';
import type { ButtonHTMLAttributes, Ref } from 'react';
import { useLocation } from 'wouter';
import { useCapabilities, useSamples } from '../../api/queries';
import { useRights } from '../../api/rights';
import { createFromSample } from '../../agent/create';
import { closeDialog, showDialog, useCloseOwn } from '../../state/dialogs';
import { agentUrl } from '../../state/urlState';
import { newAgentDialog as say } from '../../texts/agents';
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
          <li>
            <Start
              icon={Sparkles}
              title={say.describe}
              hint={say.describeHint}
              onClick={() => showDialog({ kind: 'describe', name })}
            />
          </li>
        )}
        <li>
          <Start
            icon={FileJson}
            title={say.tool}
            hint={say.toolHint}
            onClick={() => showDialog({ kind: 'importTool' })}
          />
        </li>
        {may('approve') && (
          <li>
            <Start
              icon={FileArchive}
              title={say.archive}
              hint={say.archiveHint}
              onClick={() => showDialog({ kind: 'import' })}
            />
          </li>
        )}
        <li>
          <Start
            icon={Package}
            title={say.registry}
            hint={say.registryHint}
            onClick={() => {
              closeDialog();
              navigate('/registry');
            }}
          />
        </li>
      </ul>
    </section>
  );
}

interface StartProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: LucideIcon;
  title: string;
  hint: string;
  ref?: Ref<HTMLButtonElement>;
}

/** One way to start, as a button with a title and a description. The menu of the samples passes more attributes. */
function Start({ icon: Icon, title, hint, ...rest }: StartProps) {
  return (
    <button type="button" className={css.start} {...rest}>
      <Icon size={16} aria-hidden />
      <strong>{title}</strong>
      <span>{hint}</span>
    </button>
  );
}

function Samples() {
  const samples = useSamples().data ?? [];
  const [, navigate] = useLocation();
  const task = useTask();
  const closeOwn = useCloseOwn();
  if (samples.length === 0) return null;
  return (
    <li>
      <Menu
        trigger={<Start icon={BookOpen} title={say.sample} hint={say.sampleHint} disabled={task.busy} />}
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
    </li>
  );
}
