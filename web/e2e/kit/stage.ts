// Sets up tests: one server and one browser per test file, and one page per test.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { startAtelier, type Atelier } from './atelier';
import { launch, signIn, type Session } from './browser';
import { Studio } from './studio';

export interface Stage {
  atelier: Atelier;
  browser: Browser;
  session: Session;
  page: Page;
  studio: Studio;
}

/** Opens a new page and signs in before each test, and closes the page after the test. */
export function eachSignedIn(enter: (stage: Stage) => void): void {
  let atelier: Atelier | undefined;
  let browser: Browser | undefined;
  let session: Session | undefined;
  beforeAll(async () => {
    atelier = await startAtelier();
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await atelier?.stop();
  });
  beforeEach(async () => {
    if (!atelier || !browser) throw new Error('There is no server or no browser.');
    session = await signIn(browser, atelier);
    enter({ atelier, browser, session, page: session.page, studio: new Studio(session.page) });
  });
  afterEach(async () => {
    await session?.close();
    session = undefined;
  });
}
