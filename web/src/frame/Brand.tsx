import { useQueryClient } from '@tanstack/react-query';
import { ChevronDown, CircleUser, Menu as MenuIcon, Moon, Search, Sun } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { ApiError, explain } from '../api/http';
import { useApprovals, useSession } from '../api/queries';
import { rightsOf, useRights, type Rights } from '../api/rights';
import { signOut } from '../api/verbs';
import { brand as say } from '../texts/app';
import { IconButton } from '../ui/Button';
import { Menu, type MenuEntry } from '../ui/Menu';
import css from './Brand.module.css';
import { useKeys } from '../state/bindings';
import { isMac, runCommand } from '../state/commands';
import { useEnterWorkspace } from '../state/enterWorkspace';
import { showKeys } from '../state/hotkeys';
import { dismissAll, notify } from '../state/notices';
import { currentTheme, onTheme, switchTheme, type Theme } from '../state/theme';

/** Shows the logo of the product. */
export function Mark({ size }: { size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden>
      <rect width="16" height="16" rx="4" fill="var(--accent-bg)" />
      <path
        d="M4 12 8 4l4 8M5.6 9h4.8"
        fill="none"
        stroke="#fff"
        strokeWidth="1.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

function Brand() {
  return (
    <Link href="/" className={css.brand} aria-label={say.atelierAllAgents}>
      <Mark size={20} />
      <span>Atelier</span>
    </Link>
  );
}

interface Place {
  to: string;
  label: string;
}

const places: Place[] = [
  { to: '/', label: say.agents },
  { to: '/runs', label: say.runs },
  { to: '/registry', label: say.publicRegistry },
  { to: '/skills', label: say.skills },
  { to: '/tool-sets', label: say.toolSets },
  { to: '/projects', label: say.projects },
  { to: '/tasks', label: say.tasks },
  { to: '/approvals', label: say.approvals },
];

/** Whether a page belongs to an entry of the navigation. */
const within = (here: string, to: string): boolean =>
  (to !== '/' && here.startsWith(`${to}/`)) ||
  (to === '/' && here.startsWith('/a/')) ||
  (to === '/approvals' && (here === '/blocked' || here === '/rules'));

/** The pages of the workspace and the server that the rights open. */
const managedBy = ({ mayAnywhere, runsServer }: Pick<Rights, 'mayAnywhere' | 'runsServer'>): Place[] => [
  { to: '/people', label: say.people },
  ...(mayAnywhere('admin') ? [{ to: '/tokens', label: say.tokens }] : []),
  { to: '/secrets', label: say.secrets },
  { to: '/packages', label: say.packages },
  { to: '/usage', label: say.usage },
  ...(runsServer ? [{ to: '/workspaces', label: say.workspaces }] : []),
  { to: '/server', label: say.server },
];

/** Shows the main navigation. In a narrow window it is one menu. */
function Places() {
  const [here, navigate] = useLocation();
  const rights = useRights();
  const { mayAnywhere } = rights;
  const waiting = useApprovals('pending', mayAnywhere('read')).data?.pending ?? 0;
  if (!mayAnywhere('read')) return null;
  const managed = managedBy(rights);
  const entryOf = ({ to, label }: Place): MenuEntry => ({
    kind: 'item',
    label: to === '/approvals' && waiting > 0 ? say.withCount(label, waiting) : label,
    current: here === to || within(here, to),
    run: () => navigate(to),
  });
  return (
    <>
      <nav className={css.places} aria-label={say.places}>
        {places.map(({ to, label }) => (
          <Link key={to} href={to} aria-current={here === to ? 'page' : within(here, to) ? 'true' : undefined}>
            {label}
            {to === '/approvals' && waiting > 0 && (
              <span className={css.badge}>
                {waiting}
                <span className="visually-hidden"> {say.waiting(waiting)}</span>
              </span>
            )}
          </Link>
        ))}
        <Menu
          trigger={
            <button type="button" aria-current={managed.some(({ to }) => here === to) ? 'true' : undefined}>
              {say.manage}
              <ChevronDown size={14} aria-hidden />
            </button>
          }
          entries={managed.map(entryOf)}
        />
      </nav>
      <Menu
        trigger={
          <IconButton className={css.folded} label={waiting > 0 ? say.goToAPageOf(waiting) : say.goToAPage}>
            <MenuIcon size={16} aria-hidden />
            {waiting > 0 && <span className={css.dot} />}
          </IconButton>
        }
        entries={[...places.map(entryOf), { kind: 'rule' }, ...managed.map(entryOf)]}
      />
    </>
  );
}

export const Grow = () => <span className={css.grow} />;

/** Shows the header of every screen: the product, the main navigation, search and the account. */
export function Header() {
  return (
    <>
      <Brand />
      <Places />
      <Grow />
      <HeaderTools />
    </>
  );
}

function HeaderTools() {
  const theme = useSyncExternalStore(onTheme, currentTheme);
  return (
    <div className={css.tools}>
      <IconButton label={say.commandPalette(showKeys(useKeys('palette'), isMac))} onClick={() => runCommand('palette')}>
        <Search size={16} aria-hidden />
      </IconButton>
      <IconButton
        className={css.theme}
        label={theme === 'dark' ? say.switchToLightTheme : say.switchToDarkTheme}
        onClick={switchTheme}
      >
        {theme === 'dark' ? <Sun size={16} aria-hidden /> : <Moon size={16} aria-hidden />}
      </IconButton>
      <User theme={theme} />
    </div>
  );
}

function User({ theme }: { theme: Theme }) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const help = useKeys('help.keys');
  const { data } = useSession();
  const { mayAnywhere } = rightsOf(data);
  const enter = useEnterWorkspace();
  const leave = async (): Promise<void> => {
    try {
      await signOut();
    } catch (error) {
      const ended = error instanceof ApiError && error.status === 401;
      if (!ended) return notify('failed', say.stillSignedIn(explain(error)));
    }
    dismissAll();
    await client.resetQueries();
  };
  const person = data?.actor.type === 'user';
  const others = (data?.workspaces ?? []).filter((w) => w.id !== data?.workspace.id);
  return (
    <Menu
      trigger={
        <IconButton label={say.account}>
          <CircleUser size={16} aria-hidden />
        </IconButton>
      }
      entries={ruled([
        [
          { kind: 'label', label: data ? `${data.actor.name} · ${data.workspace.title}` : say.notSignedIn },
          ...others.map((w): MenuEntry => ({ kind: 'item', label: say.goTo(w.title), run: () => enter(w.name) })),
        ],
        [
          // Without the main navigation, this is the way to the server page.
          ...only(!mayAnywhere('read'), say.server, () => navigate('/server')),
          ...only(person || mayAnywhere('admin'), say.account, () => navigate('/account')),
          { kind: 'item', label: say.settings, run: () => runCommand('settings') },
          {
            kind: 'item',
            label: say.keyboardShortcuts,
            keys: showKeys(help, isMac),
            run: () => setTimeout(() => runCommand('help.keys')),
          },
          { kind: 'item', label: theme === 'dark' ? say.lightTheme : say.darkTheme, run: switchTheme },
          { kind: 'item', label: say.signOut, run: () => void leave() },
        ],
      ])}
    />
  );
}

const only = (offered: boolean, label: string, run: () => void): MenuEntry[] =>
  offered ? [{ kind: 'item', label, run }] : [];

/** Joins non-empty groups with a separator. */
const ruled = (groups: MenuEntry[][]): MenuEntry[] =>
  groups.filter((group) => group.length > 0).flatMap((group, i) => (i === 0 ? group : [{ kind: 'rule' }, ...group]));
