package registry

import "time"

// Identity is a person as described by an identity provider. Issuer and Subject identify the person and never change.
// The other fields come from the current sign-in.
type Identity struct {
	Issuer  string
	Subject string
	Names   []string // possible user names on this server, best first
	Title   string   // "" if the provider sends no name to show
	Groups  []string
}

// AccessToken holds the claims of an access token that an identity provider issued to a client that acts for a person.
type AccessToken struct {
	Identity  Identity
	Grouped   bool      // the token lists the person's groups
	Audiences []string  // addresses for which the token is valid
	Issued    time.Time // zero if the token does not contain the time
	Expires   time.Time
}

// Grant is the role that an identity provider assigns to a person in a workspace. Role is "" if it assigns none.
type Grant struct {
	Workspace string // ID of the workspace
	Role      Role
}
