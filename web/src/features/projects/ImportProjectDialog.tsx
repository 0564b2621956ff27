import { useState } from 'react';
import { useLocation } from 'wouter';
import { importProject, refreshProjects, useProjects } from '../../api/projects';
import { notify } from '../../state/notices';
import { projectsPage as say } from '../../texts/projects';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { TextField } from '../../ui/TextField';
import { useTask } from '../../ui/useTask';

interface Props {
  /** The project whose files are replaced. Without a project, the dialog creates one. */
  into?: string;
  onClose: () => void;
}

/** Creates a project from an archive, or replaces the files of an existing project. */
export function ImportProjectDialog({ into, onClose }: Props) {
  const [name, setName] = useState(into ?? '');
  const [description, setDescription] = useState('');
  const [archive, setArchive] = useState<File>();
  const [, navigate] = useLocation();
  const work = useTask();
  const projects = useProjects().data?.items ?? [];
  // An import replaces all files of a project. So typing the name of an existing project must not replace that project.
  const taken = into === undefined && projects.some((project) => project.name === name.trim());
  const choose = (file: File | undefined): void => {
    setArchive(file);
    if (file && name === '') setName(nameOf(file.name));
  };
  const submit = (): void =>
    work.run(async () => {
      if (!archive) return;
      const skipped = await importProject(name.trim(), archive, description.trim());
      notify('done', say.imported(name.trim(), skipped));
      await refreshProjects();
      work.leadOn(() => {
        onClose();
        navigate(`/projects/${encodeURIComponent(name.trim())}`);
      });
    });
  return (
    <FormDialog
      title={into === undefined ? say.importTitle : say.importInto(into)}
      about={into === undefined ? say.importAbout : say.importIntoAbout}
      verb={say.importVerb}
      ready={archive !== undefined && name.trim() !== '' && !taken}
      busy={work.busy}
      fault={work.fault}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={say.archive} hint={say.archiveHint}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept=".zip,.tar,.gz,.tgz,.bundle"
            onChange={(e) => choose(e.target.files?.[0])}
          />
        )}
      </Field>
      {into === undefined && (
        <>
          <TextField
            label={say.name}
            error={taken ? say.nameIsTaken : work.at('/project')}
            mono
            maxLength={63}
            value={name}
            onChange={setName}
          />
          <TextField label={say.description} maxLength={1000} value={description} onChange={setDescription} />
        </>
      )}
    </FormDialog>
  );
}

/** Returns a project name that is made from the name of an archive. */
const nameOf = (file: string): string =>
  file
    .replace(/\.(zip|tar|tar\.gz|tgz|bundle)$/i, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
