import type { Locator, Page } from 'playwright-core';

/** Refuses what is asked of an address, until what is returned is called. */
export async function refuse(page: Page, url: string): Promise<() => Promise<void>> {
  await page.route(url, (route) => route.fulfill({ status: 403, json: { title: 'Not now.' } }));
  return () => page.unroute(url);
}

/** Presses Retry where it says what could not be loaded, once it is no longer refused, and waits until it says so no more. */
export async function askAgain(within: Page | Locator, words: string, allow: () => Promise<void>): Promise<void> {
  const failed = within.getByRole('alert').filter({ hasText: `${words} Not now.` });
  await failed.waitFor();
  await allow();
  await failed.getByRole('button', { name: 'Retry' }).click();
  await failed.waitFor({ state: 'detached' });
}
