// Starts a Chromium and watches its pages. A test fails if a page sends a request to another host, violates the content
// security policy, or has an uncaught error.
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import type { Atelier } from './atelier';
import { waitTimeout } from './waitTimeout';
import { count } from './tally';

export type Session = {
  context: BrowserContext;
  page: Page;
  /** Throws if a page of this session sent a forbidden request or had an uncaught error. */
  close: () => Promise<void>;
};

/**
 * The options of a session. Pages of the server `also` are not checked. With `tour`, the tour of the first visit is
 * shown.
 */
export type Look = {
  theme?: 'dark' | 'light';
  width?: number;
  height?: number;
  scale?: number;
  also?: string;
  tour?: boolean;
};

// This flag replaces the features that Playwright disables, so the list starts with these. The last two entries disable
// two pages behind the address bar of every window. Their processes used more CPU time than the window.
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
  // Chromium must not contact its vendor. It runs without a sandbox, because its sandbox does not work as root.
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

/** Starts a browser with a persistent profile, so that its cache still exists after a restart. */
export async function launchProfile(folder: string, atelier: Atelier): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(folder, {
    ...started,
    baseURL: atelier.url,
    viewport: { width: 1440, height: 900 },
  });
  await leaveTour(context);
  return context;
}

/** Prevents the tour of the first visit, so that pages behave as at a later visit. */
export const leaveTour = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript(() => {
    // The blank page has no storage.
    if (location.protocol.startsWith('http'))
      localStorage.setItem('atelier.tour', '{"state":{"done":true},"version":0}');
  });

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
  context.setDefaultTimeout(waitTimeout);
  if (look.tour !== true) await leaveTour(context);
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

/** Opens a session that is signed in with the administrator's token. */
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
      // The browser logs every 4xx response as an error, but a test may expect such a response.
      const text = message.text();
      if (message.type() !== 'error' || text.startsWith('Failed to load resource')) return;
      // On plain HTTP, the browser ignores this header and logs a message.
      if (text.startsWith('The Cross-Origin-Opener-Policy header has been ignored')) return;
      found(text.includes('Content Security Policy') ? 'policy' : 'error', `console: ${text}`);
    });
  });
  return faults;
}
