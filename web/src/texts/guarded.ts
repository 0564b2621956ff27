// These texts are separate from those of access, because every page needs them and the first screen should load little.
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
