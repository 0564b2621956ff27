import type { Page } from 'playwright-core';

/** Delays requests to a URL until the returned function is called. It delays all requests, or those with one method. */
export async function hold(page: Page, url: string | RegExp, method?: string): Promise<() => void> {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(url, async (route) => {
    if (method === undefined || route.request().method() === method) await held;
    await route.continue();
  });
  return release;
}
