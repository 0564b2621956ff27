// A clock inside the page: what a reader waits for is a painted frame, and the page knows best when that was.
import type { BrowserContext, Page } from 'playwright-core';

/** Something on the page: an element whose text holds this, and is not that. */
export interface Sight {
  selector: string;
  text?: string;
  not?: string;
}

interface Probe {
  /** When a frame was painted in which the sight is there, in milliseconds since the page began. */
  painted: (sight: Sight) => Promise<number>;
  /** The first text in the editor. */
  editor: Promise<number>;
  /** When somebody last pressed a key or clicked. */
  touched: number;
  /** For each key pressed since typing began, how long until the frame after it was painted. */
  keys: number[];
  /** How many keys are pressed and not painted yet. */
  unpainted: number;
  /** The longest wait between two frames, until it is asked for. */
  frames: () => () => number;
}
declare global {
  interface Window {
    probe: Probe;
  }
}

function install(): void {
  /** Within the callback of a frame: when that frame has been painted. */
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
  /** Calls back in each frame when all that it changes has been changed, just before it is drawn, until it is told to stop. */
  const beforePaint = (look: () => boolean): void => {
    // What is told of sizes is told then, so this one has another size in each frame.
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

/** Milliseconds from the start of the page until something was painted for the first time. */
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

/** Does something, and says how long after the last key or click of it the sight was painted. */
export async function untilPainted(page: Page, sight: Sight, act: () => Promise<unknown>): Promise<number> {
  const watching = page.evaluate((wanted) => window.probe.painted(wanted), sight);
  await act();
  const at = await watching;
  return at - (await page.evaluate(() => window.probe.touched));
}
