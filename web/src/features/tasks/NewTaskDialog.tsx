import { useState } from 'react';
import { useLocation } from 'wouter';
import { useProjects } from '../../api/projects';
import { refreshTasks, submitTask } from '../../api/tasks';
import { tasksPage as say } from '../../texts/tasks';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';

/** Submits a task and opens it. */
export function NewTaskDialog({ onClose }: { onClose: () => void }) {
  const [agent, setAgent] = useState('');
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
    work.run(async () => {
      const task = await submitTask({ agent: name, version, project, title, input: value, priority: Number(priority) });
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
      ready={agent.trim() !== ''}
      busy={work.busy}
      fault={work.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={say.agent}
        hint={say.agentHint}
        error={work.at('/agent')}
        mono
        autoFocus
        value={agent}
        onChange={setAgent}
      />
      <Field label={say.project} error={work.at('/project')}>
        {(control) => (
          <select {...control} value={project} onChange={(e) => setProject(e.target.value)}>
            <option value="">{say.ownProject}</option>
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
