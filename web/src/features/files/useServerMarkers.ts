// What the server finds in the saved draft: syntax of Python and Bash, and what the sandbox cannot run.
import { useEffect } from 'react';
import type { Finding, Language } from '../../api/types';
import { validate } from '../../api/verbs';
import type { Marker, Workspace } from '../../editor/workspace';
import type { OpenAgent } from '../agents/openAgent';

const delay = 400;
// For these the page has a language service, which finds the same errors sooner.
const served: Language[] = ['typescript', 'javascript'];

export function useServerMarkers({ fields, version, save }: OpenAgent, workspace: Workspace | undefined): void {
  const { language, files, entrypoint, rules } = fields;
  const settled = save.kind === 'saved';
  useEffect(() => {
    // A module has no lines to mark; ModuleView says what is wrong with it.
    if (!workspace || !settled || version !== undefined || language === 'wasm') return;
    const aborted = new AbortController();
    const timer = setTimeout(() => {
      validate({ language, files, entrypoint, ...(rules && { rules }) }, aborted.signal).then(
        ({ errors, warnings }) => {
          if (aborted.signal.aborted) return;
          const found = served.includes(language) ? [] : errors.map(markerOf('error'));
          workspace.setMarkers([...found, ...warnings.map(markerOf('warning'))].flat());
        },
        // Marks are a help; without the server the colours stay.
        () => undefined,
      );
    }, delay);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  }, [workspace, settled, version, language, files, entrypoint, rules]);
}

const markerOf =
  (severity: Marker['severity']) =>
  ({ file, line, column, message }: Finding): Marker[] =>
    file === undefined ? [] : [{ path: file, line: line ?? 1, column: column ?? 1, message, severity }];
