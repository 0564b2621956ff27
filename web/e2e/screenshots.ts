// Photographs the Studio for the README: a run with its result beside the code, dark and light.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'vitest';
import { repository, withAtelier } from './kit/atelier';
import { launch, signIn } from './kit/browser';
import { Studio } from './kit/studio';

const images = join(repository, 'docs/images');

test('screenshots', async () => {
  await mkdir(images, { recursive: true });
  const browser = await launch();
  try {
    await withAtelier(async (atelier) => {
      for (const theme of ['dark', 'light'] as const) {
        const session = await signIn(browser, atelier, { theme, width: 1440, height: 900, scale: 1.5 });
        const studio = new Studio(session.page);
        if (theme === 'dark') {
          await studio.home();
          await studio.openSample('Weather (TypeScript)');
          await studio.publish('1.0.0');
        }
        await studio.openAgent('weather');
        await studio.start();
        await studio.ended(/^Succeeded in/);
        await studio.panel('Console');
        // The colours come from the language service, which starts after the editor.
        await studio.hasNoErrorMarks();
        await session.page.mouse.move(720, 300);
        await session.page.screenshot({ path: join(images, `studio-${theme}.png`) });
        await session.close();
      }
    });
  } finally {
    await browser.close();
  }
});
