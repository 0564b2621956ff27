import { useProjectFile } from '../../api/projects';
import { projectsPage as say } from '../../texts/projects';
import { CopyButton } from '../../ui/CopyButton';
import { Dialog } from '../../ui/Dialog';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import css from './Projects.module.css';

/** Shows the current content of a project's file. */
export function ProjectFileDialog({ project, path, onClose }: { project: string; path: string; onClose: () => void }) {
  const found = useProjectFile(project, path);
  const text = found.data?.content ?? '';
  return (
    <Dialog
      title={path}
      wide
      onClose={onClose}
      foot={
        found.data?.binary === false ? (
          <CopyButton text={text} label={say.copyFile(path)} wording={say.copy} />
        ) : undefined
      }
    >
      {found.isPending && <Waiting shape="text" what={path} retry />}
      <NotLoaded found={found} why={say.fileNotLoaded} />
      {found.data &&
        (found.data.binary ? (
          <p>{say.binary}</p>
        ) : (
          <pre className={css.text} tabIndex={0} role="region" aria-label={say.contentOf(path)}>
            {text}
          </pre>
        ))}
    </Dialog>
  );
}
