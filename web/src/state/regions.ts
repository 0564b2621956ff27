/** Moves the focus to the next region of the screen. It also leaves the editor, which uses Tab itself. */
export function nextRegion(step: 1 | -1): void {
  const regions = [...document.querySelectorAll<HTMLElement>('[data-region]')].filter((r) => r.offsetParent !== null);
  // A region can be inside another, which comes before it.
  const now = regions.findLastIndex((r) => r.contains(document.activeElement));
  const start = now < 0 ? (step > 0 ? -1 : 0) : now;
  const next = regions[(start + step + regions.length) % regions.length];
  next?.focus();
}
