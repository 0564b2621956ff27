import { lazy, Suspense } from 'react';
import { useOpenAgent } from '../agent/openAgent';
import { useDialog } from '../state/dialogs';
import type { EditorErrorsProps } from '../features/publish/EditorErrors';

const PublishDialog = lazy(() =>
  import('../features/publish/PublishDialog').then((m) => ({ default: m.PublishDialog })),
);
const CompareDialog = lazy(() =>
  import('../features/compare/CompareDialog').then((m) => ({ default: m.CompareDialog })),
);
const UpdateSchemasDialog = lazy(() =>
  import('../features/schemas/UpdateSchemasDialog').then((m) => ({ default: m.UpdateSchemasDialog })),
);
const GenerateTestsDialog = lazy(() =>
  import('../features/run/GenerateTestsDialog').then((m) => ({ default: m.GenerateTestsDialog })),
);
const EditTestDialog = lazy(() =>
  import('../features/run/EditTestDialog').then((m) => ({ default: m.EditTestDialog })),
);
const FixDialog = lazy(() => import('../features/assist/FixDialog').then((m) => ({ default: m.FixDialog })));
const ChangeDialog = lazy(() => import('../features/assist/ChangeDialog').then((m) => ({ default: m.ChangeDialog })));
const OpinionDialog = lazy(() =>
  import('../features/assist/OpinionDialog').then((m) => ({ default: m.OpinionDialog })),
);
const KeepTestDialog = lazy(() =>
  import('../features/run/KeepTestDialog').then((m) => ({ default: m.KeepTestDialog })),
);
const ExportDialog = lazy(() => import('../features/tool/ExportDialog').then((m) => ({ default: m.ExportDialog })));
const ConnectAgentDialog = lazy(() =>
  import('../features/tools/ConnectAgentDialog').then((m) => ({ default: m.ConnectAgentDialog })),
);
const RedraftDialog = lazy(() =>
  import('../features/versions/RedraftDialog').then((m) => ({ default: m.RedraftDialog })),
);
const DeprecateDialog = lazy(() =>
  import('../features/versions/DeprecateDialog').then((m) => ({ default: m.DeprecateDialog })),
);

const DraftHistoryDialog = lazy(() =>
  import('../features/versions/DraftHistoryDialog').then((m) => ({ default: m.DraftHistoryDialog })),
);

const SavedDraftDialog = lazy(() =>
  import('../features/versions/SavedDraftDialog').then((m) => ({ default: m.SavedDraftDialog })),
);

const EditorSettings = lazy(() =>
  import('../features/files/EditorSettings').then((m) => ({ default: m.EditorSettings })),
);

const ReferenceDialog = lazy(() =>
  import('../features/reference/ReferenceDialog').then((m) => ({ default: m.ReferenceDialog })),
);

/** Shows the open dialog of the open agent. */
export function AgentDialogs({ editor }: { editor?: EditorErrorsProps }) {
  const { open } = useDialog();
  return (
    <Suspense>
      {open.kind === 'publish' && <PublishDialog editor={editor} />}
      {open.kind === 'generateTests' && <GenerateTestsDialog />}
      {open.kind === 'editTest' && <EditTestDialog key={open.test} name={open.test} />}
      {open.kind === 'fix' && <FixDialog runId={open.runId} />}
      {open.kind === 'change' && <ChangeDialog key={open.task} task={open.task} />}
      {open.kind === 'opinion' && <OpinionDialog key={open.about} kind={open.about} onGoTo={editor?.onGoTo} />}
      {open.kind === 'keepTest' && <KeepTestDialog runId={open.runId} />}
      {open.kind === 'updateSchemas' && <UpdateSchemasDialog key={open.from} from={open.from} />}
      {open.kind === 'compare' && <CompareDialog key={`${open.from} ${open.to}`} from={open.from} to={open.to} />}
      {open.kind === 'export' && <ExportDialog version={open.version} />}
      {open.kind === 'connect' && <ConnectAgentDialog />}
      {open.kind === 'editor' && <EditorSettings />}
      {open.kind === 'reference' && <Reference />}
      {open.kind === 'redraft' && <RedraftDialog from={open.from} />}
      {open.kind === 'draftHistory' && <DraftHistoryDialog />}
      {open.kind === 'savedDraft' && (
        <SavedDraftDialog key={open.revision} revision={open.revision} {...(open.back && { back: open.back })} />
      )}
      {open.kind === 'deprecate' && <DeprecateDialog version={open.version} />}
    </Suspense>
  );
}

function Reference() {
  const { language } = useOpenAgent().fields;
  return <ReferenceDialog language={language} />;
}
