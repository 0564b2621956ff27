import { useEffect } from 'react';
import type { Workspace } from '../../editor/workspace';
import { useOpenFiles, type OpenAgent } from '../../agent/openAgent';
import { standing, useOpinions } from '../../agent/opinions';
import { opinionDialog as say } from '../../texts/assist';

/** Marks the findings of the last review in the editor. */
export function useOpinionMarkers({ id, version }: OpenAgent, workspace: Workspace | undefined): void {
  const files = useOpenFiles();
  const opinions = useOpinions();
  useEffect(() => {
    const remarks = version === undefined ? standing(opinions, id, files) : [];
    workspace?.setOpinions(
      remarks.map(({ file, line, message }) => ({
        path: file,
        line,
        column: 1,
        message: say.marker(opinions.model, message),
        severity: 'info',
        rule: say.code,
        syntax: false,
      })),
    );
  }, [workspace, version, id, files, opinions]);
}
