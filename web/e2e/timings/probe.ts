// Measures inside the page, because readers wait for painted frames and only the page knows their times.
import type { BrowserContext, Page } from 'playwright-core';

/** An element that contains one text and not the other. */
export interface Sight {
  selector: string;
  text?: string;
  not?: string;
}

interface Probe {
  /** When the first frame with the element was painted, in milliseconds since navigation. */
  painted: (sight: Sight) => Promise<number>;
  /** When the editor first showed text. */
  editor: Promise<number>;
  /** When the last key press or click happened. */
  touched: number;
  /** The time from each key press to the next painted frame. */
  keys: number[];
  /** The number of key presses without a painted frame. */
  unpainted: number;
  /** The longest time between two frames since the last reading. */
  frames: () => () => number;
}
declare global {
  interface Window {
    probe: Probe;
  }
}

function install(): void {
  /** Returns when the current frame is painted. Call it in a frame callback. */
  const onceDrawn = (done: (now: number) => void): void => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now());
    channel.port2.postMessage(undefined);
  };
  const afterPaint = (done: (now: number) => void): void => {
    requestAnimationFrame(() => onceDrawn(done));
  };
  const seen = ({ selector, text, not }: Sight): boolean =>
    [...document.querySelectorAll(selector)].some(({ textContent }) => {
      const shown = textContent.replaceAll('\u00a0', ' ');
      return (text === undefined || shown.includes(text)) && (not === undefined || !shown.includes(not));
    });
  /** Calls back in every frame after layout and before paint, until stopped. */
  const beforePaint = (look: () => boolean): void => {
    // Resize observers run at that point, so this element changes its size in every frame.
    const ruler = document.createElement('div');
    ruler.style.position = 'fixed';
    const observer = new ResizeObserver(() => {
      if (look()) {
        observer.disconnect();
        ruler.remove();
      } else requestAnimationFrame(grow);
    });
    const grow = (): void => {
      if (!ruler.isConnected) document.documentElement.append(ruler);
      ruler.style.width = ruler.style.width === '1px' ? '2px' : '1px';
    };
    observer.observe(ruler);
    requestAnimationFrame(grow);
  };
  const painted = (sight: Sight): Promise<number> =>
    new Promise((done) => {
      beforePaint(() => {
        const there = seen(sight);
        if (there) onceDrawn(done);
        return there;
      });
    });
  const probe: Probe = {
    painted,
    editor: painted({ selector: '.monaco-editor .view-line', text: ' ' }),
    touched: 0,
    keys: [],
    unpainted: 0,
    frames: () => {
      let worst = 0;
      let last = performance.now();
      let on = true;
      const frame = (): void => {
        const now = performance.now();
        worst = Math.max(worst, now - last);
        last = now;
        if (on) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
      return () => {
        on = false;
        return worst;
      };
    },
  };
  window.probe = probe;
  const touch = ({ timeStamp }: Event): void => {
    probe.touched = timeStamp;
  };
  addEventListener('click', touch, true);
  addEventListener(
    'keydown',
    (event) => {
      touch(event);
      probe.unpainted++;
      afterPaint((now) => {
        probe.unpainted--;
        probe.keys.push(now - event.timeStamp);
      });
    },
    true,
  );
}

export const withProbe = (context: BrowserContext): Promise<unknown> => context.addInitScript(install);

/** Milliseconds from navigation to the first paint. */
export function firstPaint(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise((done) => {
        new PerformanceObserver((list) => {
          const [entry] = list.getEntriesByName('first-contentful-paint');
          if (entry) done(entry.startTime);
        }).observe({ type: 'paint', buffered: true });
      }),
  );
}

export const editorPainted = (page: Page): Promise<number> => page.evaluate(() => window.probe.editor);

/** Performs an action and returns the time from its last key press or click until the element is painted. */
export async function untilPainted(page: Page, sight: Sight, act: () => Promise<unknown>): Promise<number> {
  const watching = page.evaluate((wanted) => window.probe.painted(wanted), sight);
  await act();
  const at = await watching;
  return at - (await page.evaluate(() => window.probe.touched));
}
