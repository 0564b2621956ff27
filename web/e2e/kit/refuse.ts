import type { Locator, Page } from 'playwright-core';

/** Fails requests to an address until the returned function is called. */
export async function refuse(page: Page, url: string): Promise<() => Promise<void>> {
  await page.route(url, (route) => route.fulfill({ status: 403, json: { title: 'Not now.' } }));
  return () => page.unroute(url);
}

/** Presses Retry next to the error after requests succeed again, and waits until the error is gone. */
export async function askAgain(within: Page | Locator, words: string, allow: () => Promise<void>): Promise<void> {
  const failed = within.getByRole('alert').filter({ hasText: `${words} Not now.` });
  await failed.waitFor();
  await allow();
  await failed.getByRole('button', { name: 'Retry' }).click();
  await failed.waitFor({ state: 'detached' });
}
