import { Compass } from 'lucide-react';
import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import { Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { basePath } from '../api/base';
import { ApiError } from '../api/http';
import { useCapabilities, useSession } from '../api/queries';
import { useRights } from '../api/rights';
import { Guarded } from '../features/access/Guarded';
import { exportArchive } from '../agent/agentMenu';
import { Column, Page } from '../frame/Page';
import { HomePage } from '../features/agents/HomePage';
import { app as say } from '../texts/app';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { Retry } from '../ui/Retry';
import { Waiting } from '../ui/Waiting';
import { AgentDialogs } from '../workbench/AgentDialogs';
import { AgentRoute } from './AgentRoute';
import { listenForKeys, runCommand, useCommand } from '../state/commands';
import { showDialog, useDialog, type OpenDialog } from '../state/dialogs';
import { ErrorBoundary } from './ErrorBoundary';
import { setLayout, toggleRight, useLayout } from '../state/layout';
import { Notices } from '../ui/Notices';
import { PaletteInput } from './PaletteInput';
import { nextRegion } from '../state/regions';
import { SignIn } from './SignIn';
import { switchTheme } from '../state/theme';
import { decoded, readRef } from '../state/urlState';

// The pages and dialogs below are not needed for the first paint, so they are loaded later.
const SkillsPage = lazy(() => import('../features/skills/SkillsPage').then((m) => ({ default: m.SkillsPage })));
const ToolSetsPage = lazy(() => import('../features/tools/ToolSetsPage').then((m) => ({ default: m.ToolSetsPage })));
const ToolSetPage = lazy(() => import('../features/tools/ToolSetPage').then((m) => ({ default: m.ToolSetPage })));
const ProjectsPage = lazy(() => import('../features/projects/ProjectsPage').then((m) => ({ default: m.ProjectsPage })));
const ProjectPage = lazy(() => import('../features/projects/ProjectPage').then((m) => ({ default: m.ProjectPage })));
const TasksPage = lazy(() => import('../features/tasks/TasksPage').then((m) => ({ default: m.TasksPage })));
const TaskPage = lazy(() => import('../features/tasks/TaskPage').then((m) => ({ default: m.TaskPage })));
const OverlayPage = lazy(() => import('../features/projects/OverlayPage').then((m) => ({ default: m.OverlayPage })));
const ApprovalsPage = lazy(() =>
  import('../features/approvals/ApprovalsPage').then((m) => ({ default: m.ApprovalsPage })),
);
const ApprovalPage = lazy(() =>
  import('../features/approvals/ApprovalPage').then((m) => ({ default: m.ApprovalPage })),
);
const BlockedPage = lazy(() => import('../features/gate/BlockedPage').then((m) => ({ default: m.BlockedPage })));
const RulesPage = lazy(() => import('../features/gate/RulesPage').then((m) => ({ default: m.RulesPage })));
const SecretsPage = lazy(() => import('../features/secrets/SecretsPage').then((m) => ({ default: m.SecretsPage })));
const PackagesPage = lazy(() => import('../features/packages/PackagesPage').then((m) => ({ default: m.PackagesPage })));
const UsagePage = lazy(() => import('../features/usage/UsagePage').then((m) => ({ default: m.UsagePage })));
const TokensPage = lazy(() => import('../features/access/TokensPage').then((m) => ({ default: m.TokensPage })));
const RunsPage = lazy(() => import('../features/run/RunsPage').then((m) => ({ default: m.RunsPage })));
const RunPage = lazy(() => import('../features/run/RunPage').then((m) => ({ default: m.RunPage })));
const ServerPage = lazy(() => import('../features/server/ServerPage').then((m) => ({ default: m.ServerPage })));
const SettingsPage = lazy(() => import('../features/settings/SettingsPage').then((m) => ({ default: m.SettingsPage })));
const PeoplePage = lazy(() => import('../features/access/PeoplePage').then((m) => ({ default: m.PeoplePage })));
const AccountPage = lazy(() => import('../features/access/AccountPage').then((m) => ({ default: m.AccountPage })));
const InvitationPage = lazy(() =>
  import('../features/access/InvitationPage').then((m) => ({ default: m.InvitationPage })),
);
const RegistryPage = lazy(() => import('../features/registry/RegistryPage').then((m) => ({ default: m.RegistryPage })));
const ListedPage = lazy(() => import('../features/registry/ListedPage').then((m) => ({ default: m.ListedPage })));
const VersionsPage = lazy(() => import('../features/versions/VersionsPage').then((m) => ({ default: m.VersionsPage })));
const WorkspacesPage = lazy(() =>
  import('../features/workspaces/WorkspacesPage').then((m) => ({ default: m.WorkspacesPage })),
);
// Only the development server has the page of components.
const ComponentsPage = import.meta.env.DEV
  ? lazy(() => import('../features/components/ComponentsPage').then((m) => ({ default: m.ComponentsPage })))
  : undefined;
const Palette = lazy(() => import('./Palette').then((m) => ({ default: m.Palette })));
const Shortcuts = lazy(() => import('./Shortcuts').then((m) => ({ default: m.Shortcuts })));
const NewAgentDialog = lazy(() =>
  import('../features/agents/NewAgentDialog').then((m) => ({ default: m.NewAgentDialog })),
);
const DescribeDialog = lazy(() =>
  import('../features/assist/DescribeDialog').then((m) => ({ default: m.DescribeDialog })),
);
const CopyDialog = lazy(() => import('../features/registry/CopyDialog').then((m) => ({ default: m.CopyDialog })));
const ListDialog = lazy(() => import('../features/registry/ListDialog').then((m) => ({ default: m.ListDialog })));
const DeleteAgentDialog = lazy(() =>
  import('../features/agents/DeleteAgentDialog').then((m) => ({ default: m.DeleteAgentDialog })),
);

const RenameDialog = lazy(() => import('../features/agents/RenameDialog').then((m) => ({ default: m.RenameDialog })));
const ImportToolDialog = lazy(() =>
  import('../features/agents/ImportToolDialog').then((m) => ({ default: m.ImportToolDialog })),
);
const DuplicateDialog = lazy(() =>
  import('../features/agents/DuplicateDialog').then((m) => ({ default: m.DuplicateDialog })),
);
const ImportDialog = lazy(() => import('../features/archives/ImportDialog').then((m) => ({ default: m.ImportDialog })));

export function App() {
  useEffect(listenForKeys, []);
  return (
    <ErrorBoundary>
      <Router base={`${basePath}/studio`}>
        <Switch>
          <Route path="/invitation">
            <Suspense fallback={<Waiting what={say.theInvitation} />}>
              <InvitationPage />
            </Suspense>
          </Route>
          <Route>
            <SessionGate />
          </Route>
        </Switch>
      </Router>
      <Notices />
    </ErrorBoundary>
  );
}

/** Shows the Studio to users who are signed in, and the sign-in page to others. */
function SessionGate() {
  const session = useSession();
  if (session.error instanceof ApiError && session.error.status === 401) return <SignIn />;
  if (session.data) return <Pages />;
  if (session.isError) {
    return (
      <Empty title={say.notLoaded} actions={<Retry onRetry={() => void session.refetch()} />}>
        {session.error.message}
      </Empty>
    );
  }
  return <Waiting what={say.theStudio} retry />;
}

function Pages() {
  const [, navigate] = useLocation();
  const { mayAnywhere, runsServer } = useRights();
  const sees = (path: string) => (mayAnywhere('read') ? () => navigate(path) : undefined);
  useCommand('palette', () => showDialog({ kind: 'palette', scope: 'all' }));
  useCommand('palette.commands', () => showDialog({ kind: 'palette', scope: 'all' }));
  useCommand('goto', () => showDialog({ kind: 'palette', scope: 'places' }));
  useCommand('agents', () => navigate('/'));
  useCommand('registry', sees('/registry'));
  useCommand('skills', sees('/skills'));
  useCommand('toolSets', sees('/tool-sets'));
  useCommand('runs', sees('/runs'));
  useCommand('server', () => navigate('/server'));
  useCommand('settings', () => navigate('/settings/appearance'));
  useCommand('tokens', mayAnywhere('admin') ? () => navigate('/tokens') : undefined);
  useCommand('people', sees('/people'));
  useCommand('secrets', sees('/secrets'));
  useCommand('packages', sees('/packages'));
  useCommand('usage', sees('/usage'));
  useCommand('approvals', sees('/approvals'));
  useCommand('blocked', sees('/blocked'));
  useCommand('rules', sees('/rules'));
  useCommand('workspaces', runsServer ? () => navigate('/workspaces') : undefined);
  useCommand('agent.new', mayAnywhere('write') ? () => showDialog({ kind: 'new' }) : undefined);
  const model = useCapabilities().data?.languageModel !== undefined;
  useCommand('agent.describe', model && mayAnywhere('write') ? () => showDialog({ kind: 'describe' }) : undefined);
  useCommand('archive.import', mayAnywhere('approve') ? () => showDialog({ kind: 'import' }) : undefined);
  useCommand('archive.export', mayAnywhere('read') ? () => exportArchive() : undefined);
  useCommand('help.keys', () => showDialog({ kind: 'keys' }));
  useCommand('view.theme', switchTheme);
  useCommand('view.left', () => setLayout({ leftOpen: !useLayout.getState().leftOpen }));
  useCommand('view.bottom', () => setLayout({ bottomOpen: !useLayout.getState().bottomOpen }));
  useCommand('view.maximise', () => setLayout({ maximised: !useLayout.getState().maximised, bottomOpen: true }));
  useCommand('view.right', toggleRight);
  useCommand('region.next', () => nextRegion(1));
  useCommand('region.previous', () => nextRegion(-1));
  return (
    <>
      <Switch>
        <Route path="/">
          <Guarded what={say.agentsHere} needs="read">
            <HomePage />
          </Guarded>
        </Route>
        <Route path="/registry">
          <Guarded what={say.agentsOfTheRegistry} needs="read">
            <Framed what={say.theRegistry}>
              <RegistryPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/registry/:publisher/:name">
          {({ publisher, name }) => (
            <Guarded what={say.agentsOfTheRegistry} needs="read">
              <Framed what={say.theAgent}>
                <ListedPage key={`${publisher}/${name}`} publisher={publisher} name={name} dialogs={<AgentDialogs />} />
              </Framed>
            </Guarded>
          )}
        </Route>
        <Route path="/a/:ref/versions">
          {({ ref }) => (
            <Framed what={say.theVersions}>
              <VersionsPage key={ref} name={readRef(decoded(ref)).name} dialogs={<AgentDialogs />} />
            </Framed>
          )}
        </Route>
        <Route path="/runs">
          <Guarded what={say.runsHere} needs="read">
            <Framed what={say.theRuns}>
              <RunsPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/runs/:id">
          {({ id }) => (
            <Framed what={say.theRun}>
              <RunPage key={id} id={id} />
            </Framed>
          )}
        </Route>
        <Route path="/server">
          <Framed what={say.theServer}>
            <ServerPage />
          </Framed>
        </Route>
        <Route path="/skills">
          <Guarded what={say.skills} needs="read">
            <Framed what={say.theSkills}>
              <SkillsPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/tool-sets">
          <Guarded what={say.toolSetsHere} needs="read">
            <Framed what={say.theToolSets}>
              <ToolSetsPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/tool-sets/:name">
          {({ name }) => (
            <Guarded what={say.toolSetsHere} needs="read">
              <Framed what={say.theToolSets}>
                <ToolSetPage key={name} name={decoded(name)} />
              </Framed>
            </Guarded>
          )}
        </Route>
        <Route path="/projects">
          <Guarded what={say.projectsHere} needs="read">
            <Framed what={say.theProjects}>
              <ProjectsPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/projects/:name">
          {({ name }) => (
            <Guarded what={say.projectsHere} needs="read">
              <Framed what={say.theProjects}>
                <ProjectPage key={name} name={decoded(name)} />
              </Framed>
            </Guarded>
          )}
        </Route>
        <Route path="/projects/:name/overlays/:id">
          {({ name, id }) => (
            <Guarded what={say.projectsHere} needs="read">
              <Framed what={say.theProjects}>
                <OverlayPage key={id} project={decoded(name)} id={decoded(id)} />
              </Framed>
            </Guarded>
          )}
        </Route>
        <Route path="/tasks">
          <Guarded what={say.tasksHere} needs="read">
            <Framed what={say.theTasks}>
              <TasksPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/tasks/:id">
          {({ id }) => (
            <Guarded what={say.tasksHere} needs="read">
              <Framed what={say.theTasks}>
                <TaskPage key={id} id={decoded(id)} />
              </Framed>
            </Guarded>
          )}
        </Route>
        <Route path="/approvals">
          <Guarded what={say.approvalsHere} needs="read">
            <Framed what={say.theApprovals}>
              <ApprovalsPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/approvals/:id">
          {({ id }) => (
            <Guarded what={say.approvalsHere} needs="read">
              <Framed what={say.theApprovals}>
                <ApprovalPage key={id} id={decoded(id)} />
              </Framed>
            </Guarded>
          )}
        </Route>
        <Route path="/blocked">
          <Guarded what={say.blockedHere} needs="read">
            <Framed what={say.theBlocked}>
              <BlockedPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/rules">
          <Guarded what={say.rulesHere} needs="read">
            <Framed what={say.theRules}>
              <RulesPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/packages">
          <Guarded what={say.packages} needs="read">
            <Framed what={say.thePackages}>
              <PackagesPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/usage">
          <Guarded what={say.usage} needs="read">
            <Framed what={say.theUsage}>
              <UsagePage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/secrets">
          <Guarded what={say.secrets} needs="read">
            <Framed what={say.theSecrets}>
              <SecretsPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/people">
          <Guarded what={say.peopleHere} needs="read">
            <Framed what={say.thePeople}>
              <PeoplePage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/account">
          <Framed what={say.theAccount}>
            <AccountPage />
          </Framed>
        </Route>
        <Route path="/settings/:section">
          {({ section }) => (
            <Framed what={say.theSettings}>
              <SettingsPage section={section} />
            </Framed>
          )}
        </Route>
        <Route path="/settings">
          <Redirect to="/settings/appearance" replace />
        </Route>
        <Route path="/workspaces">
          <Guarded what={say.workspaces} needs="server">
            <Framed what={say.theWorkspaces}>
              <WorkspacesPage />
            </Framed>
          </Guarded>
        </Route>
        <Route path="/tokens">
          <Guarded what={say.tokens} needs="admin">
            <Framed what={say.theTokens}>
              <TokensPage />
            </Framed>
          </Guarded>
        </Route>
        {ComponentsPage && (
          <Route path="/_components">
            <Framed what={say.theComponents}>
              <ComponentsPage />
            </Framed>
          </Route>
        )}
        <Route path="/a/:ref">
          {({ ref }) => (
            <Bounded>
              <AgentRoute key={ref} agentRef={decoded(ref)} />
            </Bounded>
          )}
        </Route>
        <Route>
          <Page>
            <NotFound />
          </Page>
        </Route>
      </Switch>
      <Dialogs />
    </>
  );
}

/** Shows that no page has this URL. */
function NotFound() {
  const [here, navigate] = useLocation();
  useEffect(() => {
    document.title = say.notFoundTitle;
  }, []);
  return (
    <Empty
      icon={Compass}
      title={say.pageNotFound}
      actions={
        <>
          <Button look="primary" onClick={() => navigate('/')}>
            {say.allAgents}
          </Button>
          <Button onClick={() => navigate('/runs')}>{say.allRuns}</Button>
          <Button onClick={() => runCommand('palette')}>{say.search}</Button>
        </>
      }
    >
      {say.noPageAt(<code>{here}</code>)}
    </Empty>
  );
}

/** Shows an error of a page in the frame, so that the user can go to another page. */
function Bounded({ children }: { children: ReactNode }) {
  const [here] = useLocation();
  return (
    <ErrorBoundary place={here} frame={(content) => <Page>{content}</Page>}>
      {children}
    </ErrorBoundary>
  );
}

/** Shows the page frame while the page's code loads, or if that fails. */
function Framed({ what, children }: { what: string; children: ReactNode }) {
  const waiting = (
    <Page>
      <Column>
        <Waiting shape="page" what={what} />
      </Column>
    </Page>
  );
  return (
    <Bounded>
      <Suspense fallback={waiting}>{children}</Suspense>
    </Bounded>
  );
}

function Dialogs() {
  const { open } = useDialog();
  return (
    <>
      {open.kind === 'palette' && (
        <Suspense fallback={<PaletteInput scope={open.scope} />}>
          <Palette scope={open.scope} />
        </Suspense>
      )}
      <LazyDialogs open={open} />
    </>
  );
}

function LazyDialogs({ open }: { open: OpenDialog }) {
  return (
    <Suspense>
      {open.kind === 'new' && <NewAgentDialog name={open.name ?? ''} />}
      {open.kind === 'describe' && <DescribeDialog name={open.name ?? ''} />}
      {open.kind === 'delete' && <DeleteAgentDialog id={open.id} name={open.name} />}
      {open.kind === 'copy' && <CopyDialog id={open.id} name={open.name} version={open.version} />}
      {open.kind === 'list' && <ListDialog name={open.name} listed={open.listed} />}
      {open.kind === 'rename' && <RenameDialog id={open.id} name={open.name} published={open.published} />}
      {open.kind === 'duplicate' && <DuplicateDialog id={open.id} name={open.name} />}
      {open.kind === 'import' && <ImportDialog dropped={open.file} />}
      {open.kind === 'importTool' && <ImportToolDialog />}
      {open.kind === 'keys' && <Shortcuts />}
    </Suspense>
  );
}
