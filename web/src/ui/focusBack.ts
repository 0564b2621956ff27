// Where the focus goes when a dialog closes, or when a button goes that had it. What had it before a dialog may be gone by
// then: a row that was deleted, or a button of the dialog that led to this one.
const takes = ':is(button, input, select, textarea):not(:disabled), a[href], [tabindex="0"]';

/** What has the focus and all around it; around a dialog is what was around its opener. */
const paths = new WeakMap<Element, readonly Element[]>();

export function pathOfFocus(): readonly Element[] {
  const path: Element[] = [];
  // A button that is pressed and then disabled has the focus no more, but its dialog is still there.
  const dialog = [...document.querySelectorAll('[role=dialog]')].at(-1) ?? null;
  const focused = document.activeElement === document.body ? dialog : document.activeElement;
  for (let at = focused; at && at !== document.body && at.id !== 'root'; at = at.parentElement) {
    path.push(at);
    const before = paths.get(at);
    if (before) return [...path, ...before];
  }
  return path;
}

export const rememberPath = (dialog: Element, path: readonly Element[]): void => void paths.set(dialog, path);

/** To what had it, or to the nearest that is there and takes it, unless something has taken it already. */
export function giveBack(path: readonly Element[]): void {
  if (document.activeElement !== document.body) return;
  for (const element of path.filter(({ isConnected }) => isConnected)) {
    const itself = element === path[0] || element.matches(takes);
    if ([...(itself ? [element] : []), ...element.querySelectorAll(takes)].some(takesIt)) return;
  }
}

/** What is hidden or disabled does not. */
function takesIt(element: Element): boolean {
  if (element instanceof HTMLElement) element.focus();
  return document.activeElement !== document.body;
}

const parts = 'section, fieldset, [role=dialog], [role=tabpanel], [data-region]';

/**
 * The ref of what goes away while it may have the focus, as a button that asks again: the part of the page that it is in
 * has it then, so that the keys go on from there, and none is pressed that nobody chose.
 */
export function leaveFocus(leaving: Element | null): () => void {
  return () => {
    if (leaving === null || leaving !== document.activeElement) return;
    const around: Element[] = [];
    for (let at = leaving.closest(parts); at; at = at.parentElement?.closest(parts) ?? null) around.push(at);
    const dialog = leaving.closest('[role=dialog]');
    queueMicrotask(() => {
      // A dialog that closes with it gives the focus back itself.
      if (document.activeElement !== document.body || dialog?.isConnected === false) return;
      const part = around.find(({ isConnected }) => isConnected) ?? document.querySelector('main');
      if (part instanceof HTMLElement) focusOnce(part);
    });
  };
}

/** What cannot have the focus otherwise has it until it goes on. */
function focusOnce(part: HTMLElement): void {
  if (!part.hasAttribute('tabindex')) {
    part.tabIndex = -1;
    part.addEventListener('blur', () => part.removeAttribute('tabindex'), { once: true });
  }
  part.focus({ preventScroll: true });
}
