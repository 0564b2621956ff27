import type { Locator, Page } from 'playwright-core';

type Counting = Window & { changes?: number };

/** Starts to count the changes of the page's URL. */
export async function countChanges(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const counting = window as Counting;
    counting.changes = 0;
    for (const way of ['pushState', 'replaceState'] as const) {
      const real = history[way].bind(history);
      history[way] = (data, unused, url) => {
        counting.changes = (counting.changes ?? 0) + 1;
        real(data, unused, url);
      };
    }
  });
  return () => page.evaluate(() => (window as Counting).changes ?? 0);
}

/**
 * Types as fast as the page accepts keys. Returns the text on the screen, and the number of URL changes after the last
 * key.
 */
export const typeAtOnce = (box: Locator, text: string): Promise<{ value: string; changes: number | undefined }> =>
  box.evaluate((element, typed) => {
    const input = element as HTMLInputElement;
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set;
    for (let n = 1; n <= typed.length; n++) {
      set?.call(input, typed.slice(0, n));
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }
    return { value: input.value, changes: (window as Counting).changes };
  }, text);
