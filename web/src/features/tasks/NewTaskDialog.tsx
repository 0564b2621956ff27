import { useState } from 'react';
import { useLocation } from 'wouter';
import { languageNames } from '../../agent/starters';
import { useProjects } from '../../api/projects';
import { useCapabilities } from '../../api/queries';
import { refreshTasks, submitTask } from '../../api/tasks';
import { tasksPage as say } from '../../texts/tasks';
import { Choices } from '../../ui/Choices';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';

const languages = ['python', 'javascript', 'typescript', 'bash'] as const;
type Language = (typeof languages)[number];

/** Submits a task and then opens its page. */
export function NewTaskDialog({ onClose }: { onClose: () => void }) {
  const model = useCapabilities().data?.languageModel !== undefined;
  const [from, setFrom] = useState<'agent' | 'description'>('agent');
  const [agent, setAgent] = useState('');
  const [description, setDescription] = useState('');
  const [language, setLanguage] = useState<Language>('python');
  const [project, setProject] = useState('');
  const [title, setTitle] = useState('');
  const [input, setInput] = useState('{}');
  const [priority, setPriority] = useState('5');
  const projects = useProjects();
  const [, navigate] = useLocation();
  const work = useTask();
  const submit = (): void => {
    let value: unknown;
    try {
      value = JSON.parse(input);
    } catch {
      work.fail(say.badInput, '/input');
      return;
    }
    const [name = '', version = ''] = agent.trim().split('@');
    const program = from === 'agent' ? { agent: name, version } : { description, language };
    work.run(async () => {
      const task = await submitTask({ ...program, project, title, input: value, priority: Number(priority) });
      await refreshTasks();
      work.leadOn(() => {
        onClose();
        navigate(`/tasks/${encodeURIComponent(task.id)}`);
      });
    });
  };
  return (
    <FormDialog
      title={say.newTask}
      verb={say.submit}
      ready={from === 'agent' ? agent.trim() !== '' : description.trim() !== '' && project !== ''}
      busy={work.busy}
      fault={work.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      {model && (
        <Choices
          label={say.from}
          choices={[
            { value: 'agent', label: say.ofAgent },
            { value: 'description', label: say.ofDescription },
          ]}
          value={from}
          onChange={setFrom}
        />
      )}
      {from === 'agent' ? (
        <TextField
          label={say.agent}
          hint={say.agentHint}
          error={work.at('/agent')}
          mono
          autoFocus
          value={agent}
          onChange={setAgent}
        />
      ) : (
        <Description
          description={description}
          error={work.at('/description')}
          onDescription={setDescription}
          language={language}
          onLanguage={setLanguage}
        />
      )}
      <Field label={say.project} error={work.at('/project')}>
        {(control) => (
          <select {...control} value={project} onChange={(e) => setProject(e.target.value)}>
            <option value="">{from === 'agent' ? say.ownProject : say.choose}</option>
            {projects.data?.items.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={say.input} error={work.at('/input')} mono>
        {(control) => (
          <textarea {...control} rows={4} spellCheck={false} value={input} onChange={(e) => setInput(e.target.value)} />
        )}
      </Field>
      <TextField label={say.title} hint={say.titleHint} maxLength={200} value={title} onChange={setTitle} />
      <Field label={say.priority} hint={say.priorityHint}>
        {(control) => (
          <input
            {...control}
            type="number"
            min={0}
            max={9}
            required
            value={priority}
            onChange={(e) => setPriority(e.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}

interface DescriptionProps {
  description: string;
  error: string | undefined;
  onDescription: (text: string) => void;
  language: Language;
  onLanguage: (language: Language) => void;
}

/** Asks for a description of the change, and for the language of the program that a language model writes for it. */
function Description({ description, error, onDescription, language, onLanguage }: DescriptionProps) {
  return (
    <>
      <Field label={say.description} hint={say.descriptionHint} error={error}>
        {(control) => (
          <textarea
            {...control}
            rows={5}
            maxLength={16_000}
            value={description}
            onChange={(e) => onDescription(e.target.value)}
          />
        )}
      </Field>
      <Field label={say.language}>
        {(control) => (
          <select
            {...control}
            value={language}
            onChange={(e) => onLanguage(languages.find((one) => one === e.target.value) ?? 'python')}
          >
            {languages.map((one) => (
              <option key={one} value={one}>
                {languageNames[one]}
              </option>
            ))}
          </select>
        )}
      </Field>
    </>
  );
}
