// Separate from the access texts, because every page is guarded and the first screen needs these.
export const guarded = {
  pageTitle: 'No access · Atelier',
  noAccess: 'No access',
  allAgents: 'All agents',
  open: (name: string) => `Open ${name}`,
  goTo: (title: string) => `Go to ${title}`,
  whatThisServerCanDo: 'Server capabilities',
  forWhoRunsIt: (what: string) => `${what} are only for server administrators.`,
  notShown: (what: string, why: string) => `You cannot see ${what}. ${why}`,
};
