// Takes the README screenshots: a run with its result next to the code, dark and light.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'vitest';
import { repository, withAtelier } from './kit/atelier';
import { launch, signIn } from './kit/browser';
import { Studio } from './kit/studio';

const images = join(repository, 'docs/images');

/** The editor colours its lines shortly after it shows them. */
function coloured(): boolean {
  const words = [...document.querySelectorAll('.view-line span span')];
  return new Set(words.map((word) => getComputedStyle(word).color)).size > 3;
}

test('screenshots', async () => {
  await mkdir(images, { recursive: true });
  const browser = await launch();
  try {
    await withAtelier(async (atelier) => {
      const session = await signIn(browser, atelier, { width: 1440, height: 900, scale: 1.5 });
      const { page } = session;
      const studio = new Studio(page);
      await studio.home();
      await studio.openSample('Weather');
      await studio.publish('1.0.0');
      await studio.start();
      await studio.ended(/^Succeeded ·/);
      await studio.panel('Console');
      // The language service adds colours after the editor starts.
      await studio.hasNoErrorMarks();
      await page.mouse.move(720, 300);
      for (const theme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        await page.waitForFunction((wanted) => document.documentElement.dataset['theme'] === wanted, theme);
        await page.waitForFunction(coloured);
        await page.screenshot({ path: join(images, `studio-${theme}.png`) });
      }
      await session.close();
    });
  } finally {
    await browser.close();
  }
});
