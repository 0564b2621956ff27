import type { ReactNode } from 'react';
import { useShallow } from 'zustand/react/shallow';
import type { Files } from '../api/types';
import {
  OpenAgentContext,
  OpenFilesContext,
  type Fields,
  type OpenAgent,
  type Opened,
  type Settings,
} from './openAgent';
import { useSchemaTexts } from './useSchemaTexts';

/** Provides the open agent to the components in it. An edit of a file changes only the files context. */
export function OpenAgentProvider({ opened, children }: { opened: Opened; children: ReactNode }) {
  const texts = useSchemaTexts(opened);
  const { files } = opened.fields;
  const fields = useShallow(settingsOf)(opened.fields);
  const paths = useShallow(pathsOf)(files);
  const agent = useShallow(same)({ ...opened, ...texts, fields, paths });
  return (
    <OpenAgentContext value={agent}>
      <OpenFilesContext value={files}>{children}</OpenFilesContext>
    </OpenAgentContext>
  );
}

function settingsOf({ files: _files, ...settings }: Fields): Settings {
  return settings;
}

const pathsOf = (files: Files): readonly string[] => Object.keys(files);
const same = (agent: OpenAgent): OpenAgent => agent;
