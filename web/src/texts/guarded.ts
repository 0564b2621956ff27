// Separate from the access texts, because every page is guarded and the first screen needs these.
export const guarded = {
  pageTitle: 'No access · Atelier',
  allAgents: 'All agents',
  open: (name: string) => `Open ${name}`,
  goTo: (title: string) => `Go to ${title}`,
  whatThisServerCanDo: 'What this server can do',
  forWhoRunsIt: (what: string) => `${what} are only for those who run it: the administrators of its own workspace.`,
  notShown: (what: string, why: string) => `${what} are not shown to you. ${why}`,
};
