// Restores the focus when a dialog closes or a focused button disappears. The element that had the focus may have
// disappeared too, for example with a deleted row.
const takes = ':is(button, input, select, textarea):not(:disabled), a[href], [tabindex="0"]';

/**
 * Returns the focused element and its ancestors. If it is in a dialog, the ancestors of the element that opened the
 * dialog follow.
 */
const paths = new WeakMap<Element, readonly Element[]>();

export function pathOfFocus(): readonly Element[] {
  const path: Element[] = [];
  // If a click disables a button, the button loses the focus. Its dialog still exists.
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

/**
 * Focuses the given element, or its nearest ancestor that can have the focus. It does nothing if another element has
 * the focus.
 */
export function giveBack(path: readonly Element[]): void {
  if (document.activeElement !== document.body) return;
  for (const element of path.filter(({ isConnected }) => isConnected)) {
    const itself = element === path[0] || element.matches(takes);
    if ([...(itself ? [element] : []), ...element.querySelectorAll(takes)].some(takesIt)) return;
  }
}

/** Hidden and disabled elements cannot have the focus. */
function takesIt(element: Element): boolean {
  if (element instanceof HTMLElement) element.focus();
  return document.activeElement !== document.body;
}

const parts = 'section, fieldset, [role=dialog], [role=tabpanel], [data-region]';

/**
 * Returns a ref for a focused element that may disappear, such as a retry button. Then the section that contains the
 * element gets the focus. So keyboard users can continue there, and no other button is pressed by accident.
 */
export function leaveFocus(leaving: Element | null): () => void {
  return () => {
    if (leaving === null || leaving !== document.activeElement) return;
    const around: Element[] = [];
    for (let at = leaving.closest(parts); at; at = at.parentElement?.closest(parts) ?? null) around.push(at);
    const dialog = leaving.closest('[role=dialog]');
    queueMicrotask(() => {
      // If a dialog closes at the same time, the dialog restores the focus.
      if (document.activeElement !== document.body || dialog?.isConnected === false) return;
      const part = around.find(({ isConnected }) => isConnected) ?? document.querySelector('main');
      if (part instanceof HTMLElement) focusOnce(part);
    });
  };
}

/** Makes an element focusable until it loses the focus. */
function focusOnce(part: HTMLElement): void {
  if (!part.hasAttribute('tabindex')) {
    part.tabIndex = -1;
    part.addEventListener('blur', () => part.removeAttribute('tabindex'), { once: true });
  }
  part.focus({ preventScroll: true });
}
