// What most files of tests play on: a server and a browser for all of them, and for each test a page of its own.
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

/** Hands over a stage whose page is signed in before each test, and clears it away after. */
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
