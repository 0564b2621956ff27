export const waiting = {
  stillLoading: (what: string) => `Still loading ${what}…`,
  loading: (what: string) => `Loading ${what}…`,
};

export const few = {
  showAll: (n: number) => `Show all ${n}`,
  showFewer: 'Show fewer',
};

export const listed = {
  couldNotLoad: (what: string, reason: string) => `Could not load ${what}. ${reason}`,
  moreNotLoaded: (reason: string) => `The next ones could not be loaded. ${reason}`,
  loading: 'Loading…',
  showMore: 'Show more',
};

export const dataTable = {
  filter: (label: string) => `Filter ${label}`,
  placeholder: 'Filter',
  found: (found: number, all: number) => `${found} of ${all}`,
  nothingMatches: 'Nothing matches.',
  firstOf: (n: number, all: number) => `The first ${n} of ${all}. Filter to find others.`,
};

export const dialog = {
  close: 'Close',
};

export const copyButton = {
  copied: 'Copied',
};
