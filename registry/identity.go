package registry

import "time"

// Identity is a person as described by an identity provider. Issuer and Subject identify the person and never change;
// all other fields come from the current sign-in.
type Identity struct {
	Issuer  string
	Subject string
	Names   []string // possible user names on this server, best first
	Title   string   // "" for none
	Groups  []string
}

// AccessToken holds the claims of an access token that an identity provider issued to a client that acts for a person.
type AccessToken struct {
	Identity  Identity
	Grouped   bool      // the token names the groups of the person
	Audiences []string  // addresses that the token is for
	Issued    time.Time // zero if the token does not say
	Expires   time.Time
}

// Grant is the role that an identity provider assigns to a person in a workspace, "" for none.
type Grant struct {
	Workspace string // ID of the workspace
	Role      Role
}
