/** Moves the focus to the next region of the screen. It also leaves the editor, in which Tab inserts a character. */
export function nextRegion(step: 1 | -1): void {
  const regions = [...document.querySelectorAll<HTMLElement>('[data-region]')].filter((r) => r.offsetParent !== null);
  // If a region is inside another region, the outer region comes first.
  const now = regions.findLastIndex((r) => r.contains(document.activeElement));
  const start = now < 0 ? (step > 0 ? -1 : 0) : now;
  const next = regions[(start + step + regions.length) % regions.length];
  next?.focus();
}
