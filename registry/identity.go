package registry

// Identity is a person as described by an identity provider. Issuer and Subject identify the person and never change;
// all other fields come from the current sign-in.
type Identity struct {
	Issuer  string
	Subject string
	Names   []string // possible user names on this server, best first
	Title   string   // "" for none
	Groups  []string
}

// Grant is the role that an identity provider assigns to a person in a workspace, "" for none.
type Grant struct {
	Workspace string // ID of the workspace
	Role      Role
}
