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

// DefaultUser is the name of the administrator of a single-user server.
const DefaultUser = "admin"

// Role defines the rights of a member in a workspace.
type Role string

// These are the roles. Each role includes the rights of the roles before it.
const (
	Viewer        Role = "viewer"
	Developer     Role = "developer"
	Approver      Role = "approver"
	Administrator Role = "administrator"
)

// Roles returns all roles, lowest first.
func Roles() []Role { return []Role{Viewer, Developer, Approver, Administrator} }

// Scopes returns the scopes of a role, none for an unknown role.
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

// Covers reports whether a role includes all rights of another role.
func (r Role) Covers(other Role) bool {
	return slices.Index(Roles(), r) >= slices.Index(Roles(), other)
}

// RoleWith returns the lowest role that has one of the scopes.
func RoleWith(anyOf ...Scope) Role {
	for _, role := range Roles() {
		if (Caller{Scopes: role.Scopes()}).May(anyOf...) {
			return role
		}
	}
	return Administrator
}

// CheckRole checks that a role exists.
func CheckRole(role Role) error {
	if !slices.Contains(Roles(), role) {
		return fault.Invalid("/role", "must be viewer, developer, approver or administrator.")
	}
	return nil
}

// Workspace is a tenant.
type Workspace struct {
	ID        string
	Name      string // unique on the server, in the form of an agent's name
	Title     string
	CreatedAt time.Time
	ClosedAt  *time.Time // time of closing; a closed workspace rejects all access but keeps its rows and its name
}

// User is a person.
type User struct {
	ID        string
	Name      string // name to sign in with, unique on the server
	Title     string // name shown to others
	Password  string // argon2id with its parameters and salt; "" for none
	CreatedAt time.Time
}

// Actor returns the user as an actor in a workspace.
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

// Invitation is a one-time link into a workspace. Only the SHA-256 of its secret is stored.
type Invitation struct {
	ID        string
	Hash      string
	Workspace string
	Role      Role
	Note      string // intended recipient
	Creator   Actor
	CreatedAt time.Time
	ExpiresAt time.Time
}

const (
	mostUserName = 100
	mostTitle    = 100
)

var userName = regexp.MustCompile(`^[a-z0-9][a-z0-9._+@-]*$`)

// CheckUserName checks a name to sign in with. An email address is valid. A name that looks like a user ID is invalid,
// because requests accept either of them.
func CheckUserName(name string) error {
	if len(name) > mostUserName || !userName.MatchString(name) {
		return fault.Invalid("/name", "must start with a lower-case letter or a digit and have at most %d of a-z, 0-9 and . _ + @ -", mostUserName)
	}
	if uuid.Validate(name) == nil {
		return fault.Invalid("/name", "must not look like an ID. Choose another name.")
	}
	return nil
}

// CheckTitle checks the title of a person or a workspace. It rejects characters that have no width or change the text
// direction, because such a title could imitate another one.
func CheckTitle(title string) error {
	letters := []rune(title)
	if title == "" || len(letters) > mostTitle || !utf8.ValidString(title) || title[0] == ' ' || title[len(title)-1] == ' ' {
		return fault.Invalid("/title", "must have 1 to %d characters, without spaces at the start or end.", mostTitle)
	}
	for i, r := range letters {
		if !unicode.IsPrint(r) && !joins(letters, i) {
			return fault.Invalid("/title", "must have printable characters only. Character %d (U+%04X) is not printable.", i+1, r)
		}
	}
	return nil
}

// joins reports whether a character is a zero-width joiner that changes how its neighbours look, as in emoji and in
// Persian words. It returns false next to scripts in which the joiner is invisible, because the title could then
// imitate another one.
func joins(letters []rune, i int) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
	if r := letters[i]; r != zeroWidthNonJoiner && r != zeroWidthJoiner || i == 0 || i == len(letters)-1 {
		return false
	}
	for _, r := range []rune{letters[i-1], letters[i+1]} {
		if r < 0x0590 || !unicode.IsPrint(r) || unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
			return false
		}
	}
	return true
}

// NoWorkspace returns the error for a workspace that does not exist. A workspace of which the caller is no member gets
// the same error.
func NoWorkspace(nameOrID string) error {
	return fault.New(fault.NoWorkspace, "Workspace %s not found.", nameOrID)
}
