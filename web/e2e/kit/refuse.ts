import type { Locator, Page } from 'playwright-core';

/** Lets requests to a URL fail until the returned function is called. */
export async function refuse(page: Page, url: string): Promise<() => Promise<void>> {
  await page.route(url, (route) => route.fulfill({ status: 403, json: { title: 'Not now.' } }));
  return () => page.unroute(url);
}

/** Lets requests succeed again, presses Retry next to the error, and waits until the error has disappeared. */
export async function askAgain(within: Page | Locator, words: string, allow: () => Promise<void>): Promise<void> {
  const failed = within.getByRole('alert').filter({ hasText: `${words} Not now.` });
  await failed.waitFor();
  await allow();
  await failed.getByRole('button', { name: 'Retry' }).click();
  await failed.waitFor({ state: 'detached' });
}
