// Loads the problems that the server finds in the saved draft: syntax errors in Python and Bash, and features that the
// sandbox does not support.
import { useEffect } from 'react';
import type { Finding, Language, VerdictFinding } from '../../api/types';
import { validate } from '../../api/verbs';
import type { Marker, Workspace } from '../../editor/workspace';
import { useOpenFiles, type OpenAgent } from '../../agent/openAgent';

const delay = 400;
// For these languages, a language service in the page finds errors sooner.
const served: Language[] = ['typescript', 'javascript'];

/** Marks the problems in the editor. */
export function useServerMarkers(agent: OpenAgent, workspace: Workspace | undefined): void {
  const { fields, version, save } = agent;
  const { language, runtime, entrypoint, rules } = fields;
  const files = useOpenFiles();
  const settled = save.kind === 'saved';
  useEffect(() => {
    // A WebAssembly module has no lines to mark. ModuleView shows its problem.
    if (!workspace || !settled || version !== undefined || language === 'wasm') return;
    const aborted = new AbortController();
    const timer = setTimeout(() => {
      validate({ language, runtime, files, entrypoint, ...(rules && { rules }) }, aborted.signal).then(
        ({ errors, warnings, verdict }) => {
          if (aborted.signal.aborted) return;
          const found = served.includes(language) ? [] : errors.map(markerOf('error'));
          const judged = (verdict?.findings ?? []).filter(({ ruleId }) => ruleId !== 'syntax').map(ofFinding);
          workspace.setMarkers([...found, ...warnings.map(markerOf('warning')), ...judged].flat());
        },
        // Markers are optional. If the server does not answer, the editor has none.
        () => undefined,
      );
    }, delay);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  }, [workspace, settled, version, language, runtime, files, entrypoint, rules]);
}

const syntaxError = 'syntax_error';

/** Converts a finding of the policy gate to a warning with its remedy and its rule. */
const ofFinding = ({ ruleId, file, line, column, message, remedy }: VerdictFinding): Marker[] =>
  markerOf('warning')({
    message: `${message} ${remedy ?? ''}`.trim(),
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  }).map((marker) => ({ ...marker, rule: ruleId }));

const markerOf =
  (severity: Marker['severity']) =>
  ({ file, line, column, message, code }: Finding): Marker[] =>
    file === undefined
      ? []
      : [{ path: file, line: line ?? 1, column: column ?? 1, message, severity, syntax: code === syntaxError }];
