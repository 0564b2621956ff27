// A Chromium whose pages are watched: a request to another host, a violation of the content security policy or an
// error that nobody caught fails the test, whatever else it asserted.
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import type { Atelier } from './atelier';
import { patience } from './patience';
import { count } from './tally';

export type Session = {
  context: BrowserContext;
  page: Page;
  /** Throws when the pages of this session have done what they must not. */
  close: () => Promise<void>;
};

/** How a session looks, and another server that it may go to, whose pages are not ours to judge. */
export type Look = { theme?: 'dark' | 'light'; width?: number; height?: number; scale?: number; also?: string };

// The first ones are Playwright's own, whose switch this one takes the place of. The last ones are the browser's: every window
// has two pages behind its address bar, in processes that took more of a processor than the window itself.
const without = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
];

const started = {
  executablePath: process.env['ATELIER_TEST_CHROMIUM'] ?? '/usr/bin/chromium',
  // The browser itself must not call home either, and as root it has no sandbox of its own.
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    `--disable-features=${without.join(',')}`,
  ],
};

export function launch(...more: string[]): Promise<Browser> {
  return chromium.launch({ ...started, args: [...started.args, ...more] });
}

/** A browser of its own with a profile in a folder, which keeps what it has fetched and compiled. */
export function launchProfile(folder: string, atelier: Atelier): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, {
    ...started,
    baseURL: atelier.url,
    viewport: { width: 1440, height: 900 },
  });
}

/** Opens a session without a cookie. */
export async function openSession(browser: Browser, atelier: Atelier, look: Look = {}): Promise<Session> {
  const context = await browser.newContext({
    baseURL: atelier.url,
    viewport: { width: look.width ?? 1440, height: look.height ?? 900 },
    colorScheme: look.theme ?? 'dark',
    reducedMotion: 'reduce',
    deviceScaleFactor: look.scale ?? 1,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(patience);
  if (look.also !== undefined) await context.route('https://**', (route) => route.abort());
  const faults = watch(context, atelier.url, look.also);
  const page = await context.newPage();
  return {
    context,
    page,
    close: async () => {
      await context.close();
      const of = (kind: Fault['kind']): number => faults.filter((fault) => fault.kind === kind).length;
      count({ sessions: 1, foreign: of('foreign'), policy: of('policy') });
      if (faults.length > 0)
        throw new Error(`The page did what it must not:\n${faults.map((fault) => fault.text).join('\n')}`);
    },
  };
}

/** Opens a session that is signed in with the administrator's token, as a person who pasted it. */
export async function signIn(browser: Browser, atelier: Atelier, look: Look = {}): Promise<Session> {
  const session = await openSession(browser, atelier, look);
  const answer = await session.context.request.post('/api/v1/session', { data: { token: atelier.token } });
  if (answer.status() !== 204) throw new Error(`sign in: ${String(answer.status())} ${await answer.text()}`);
  return session;
}

interface Fault {
  kind: 'foreign' | 'policy' | 'error';
  text: string;
}

function watch(context: BrowserContext, origin: string, also?: string): Fault[] {
  const faults: Fault[] = [];
  const found = (kind: Fault['kind'], text: string): void => void faults.push({ kind, text });
  const socket = origin.replace('http:', 'ws:');
  const ours = (url: string) =>
    [origin, socket, ...(also === undefined ? [] : [also])].some(
      (base) => url === base || url.startsWith(`${base}/`),
    ) || url.startsWith('data:');
  context.on('request', (request) => {
    const theirs = also !== undefined && request.frame().url().startsWith(`${also}/`);
    if (!ours(request.url()) && !theirs) found('foreign', `request to ${request.url()}`);
  });
  context.on('page', (page) => {
    page.on('websocket', (opened) => {
      if (!ours(opened.url())) found('foreign', `socket to ${opened.url()}`);
    });
    page.on('pageerror', (error) => found('error', `uncaught ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      // An answer of 4xx is reported as an error by the browser itself; a test that expects one is not wrong.
      const text = message.text();
      if (message.type() !== 'error' || text.startsWith('Failed to load resource')) return;
      // On plain HTTP it says so of a header that only counts elsewhere.
      if (text.startsWith('The Cross-Origin-Opener-Policy header has been ignored')) return;
      found(text.includes('Content Security Policy') ? 'policy' : 'error', `console: ${text}`);
    });
  });
  return faults;
}
