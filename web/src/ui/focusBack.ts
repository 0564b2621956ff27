// Where the focus goes when a dialog closes. What had it before may be gone by then: a row that was deleted, or a button of the
// dialog that led to this one.
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
