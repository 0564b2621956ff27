package registry

// Identity is who a provider of logins says that somebody is. Issuer and Subject decide, and never change; all else is
// what the provider said this time.
type Identity struct {
	Issuer  string
	Subject string
	Names   []string // by which they may be known here, the best first
	Title   string   // "" for none
	Groups  []string
}

// Grant is the role that a provider of logins gives somebody in a workspace, "" for none.
type Grant struct {
	Workspace string // its ID
	Role      Role
}
