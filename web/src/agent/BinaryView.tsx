import { useRef } from 'react';
import type { FileContent } from '../api/types';
import { download } from '../state/clipboard';
import { notify } from '../state/notices';
import { Button } from '../ui/Button';
import { binaryView as say } from '../texts/files';
import { useOpenAgent } from './openAgent';
import css from './BinaryView.module.css';
import { bytesOf, pictureOf, readUpload } from '../api/contents';

/**
 * Shows the size of a binary file, and a preview if the file is a picture. The user can download or replace the file.
 */
export function BinaryView({ path, content }: { path: string; content: FileContent }) {
  const { session } = useOpenAgent();
  const chooser = useRef<HTMLInputElement>(null);
  const bytes = bytesOf(content);
  const picture = pictureOf(path, content);
  const name = path.split('/').at(-1) ?? path;
  const replace = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    try {
      session?.setFile(path, await readUpload(file));
    } catch {
      notify('failed', say.notRead(file.name));
    }
  };
  return (
    <section className={css.view} aria-label={path}>
      {picture !== undefined && <img src={picture} alt={path} />}
      <p>{say.isBinary(name, bytes.length)}</p>
      <div className={css.actions}>
        <Button onClick={() => download(name, bytes, 'application/octet-stream')}>{say.download}</Button>
        {session && <Button onClick={() => chooser.current?.click()}>{say.replace}</Button>}
      </div>
      <input
        ref={chooser}
        type="file"
        hidden
        aria-label={say.replaceNamed(path)}
        onChange={(e) => {
          void replace(e.target.files?.[0]);
          e.target.value = ''; // reset, so that the user can select the same file again
        }}
      />
    </section>
  );
}
