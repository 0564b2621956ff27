package registry

import (
	"regexp"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/fault"
)

// DefaultUser is the administrator of a server with a single user.
const DefaultUser = "admin"

// Role is what a member of a workspace may do there.
type Role string

// The roles. Each may do what those before it may.
const (
	Viewer        Role = "viewer"
	Developer     Role = "developer"
	Approver      Role = "approver"
	Administrator Role = "administrator"
)

// Roles are all of them, the least first.
func Roles() []Role { return []Role{Viewer, Developer, Approver, Administrator} }

// Scopes are what the role lets its bearer do; none for a role that is unknown.
func (r Role) Scopes() []Scope {
	switch r {
	case Viewer:
		return []Scope{ReadScope}
	case Developer:
		return []Scope{ReadScope, RunScope, WriteScope}
	case Approver:
		return []Scope{ReadScope, RunScope, WriteScope, ApproveScope}
	case Administrator:
		return []Scope{AdminScope}
	}
	return nil
}

// Covers reports whether who has the role may do all that another may.
func (r Role) Covers(other Role) bool {
	return slices.Index(Roles(), r) >= slices.Index(Roles(), other)
}

// RoleWith is the least role that has one of the scopes.
func RoleWith(anyOf ...Scope) Role {
	for _, role := range Roles() {
		if (Caller{Scopes: role.Scopes()}).May(anyOf...) {
			return role
		}
	}
	return Administrator
}

// CheckRole tells whether there is such a role.
func CheckRole(role Role) error {
	if !slices.Contains(Roles(), role) {
		return fault.Invalid("/role", "The role must be viewer, developer, approver or administrator.")
	}
	return nil
}

// Workspace is a tenant.
type Workspace struct {
	ID        string
	Name      string // unique on the server, in the form of an agent's name
	Title     string
	CreatedAt time.Time
	ClosedAt  *time.Time // nobody enters a closed one; its rows and its name stay
}

// User is a person.
type User struct {
	ID        string
	Name      string // by which they log in, unique on the server
	Title     string // what others see
	Password  string // argon2id with its parameters and salt; "" for none
	CreatedAt time.Time
}

// Actor is the user as somebody who acts in a workspace.
func (u User) Actor(workspace string) Actor {
	return Actor{ID: u.ID, Type: UserActor, Name: u.Title, Workspace: workspace}
}

// Member is a user of a workspace.
type Member struct {
	User  User
	Role  Role
	Since time.Time
}

// Membership is a workspace of a user.
type Membership struct {
	Workspace Workspace
	Role      Role
	Since     time.Time
}

// Invitation is a one-time link into a workspace. Only the SHA-256 of its secret is kept.
type Invitation struct {
	ID        string
	Hash      string
	Workspace string
	Role      Role
	Note      string // whom it is for
	Creator   Actor
	CreatedAt time.Time
	ExpiresAt time.Time
}

const (
	mostUserName = 100
	mostTitle    = 100
)

var userName = regexp.MustCompile(`^[a-z0-9][a-z0-9._+@-]*$`)

// CheckUserName tells whether somebody may log in by this name. An address of mail is one; what looks like the ID of
// somebody is none, since people are named by either.
func CheckUserName(name string) error {
	if len(name) > mostUserName || !userName.MatchString(name) {
		return fault.Invalid("/name", "A sign-in name must start with a lower-case letter or a digit and have at most %d of a-z, 0-9 and . _ + @ -", mostUserName)
	}
	if uuid.Validate(name) == nil {
		return fault.Invalid("/name", "A sign-in name must not look like an ID. Choose another name.")
	}
	return nil
}

// CheckTitle tells whether a person or a workspace may be called so: what has no width or turns the direction of text could
// look like somebody else.
func CheckTitle(title string) error {
	if title == "" || len(title) > mostTitle || !utf8.ValidString(title) || title[0] == ' ' || title[len(title)-1] == ' ' ||
		slices.ContainsFunc([]rune(title), func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fault.Invalid("/title", "A title must have 1 to %d bytes of printable text, without spaces at the start or end.", mostTitle)
	}
	return nil
}

// NoWorkspace says that there is no such workspace; one that the caller is no member of is the same.
func NoWorkspace(nameOrID string) error {
	return fault.New(fault.NoWorkspace, "Workspace %s not found.", nameOrID)
}
