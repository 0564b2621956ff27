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

// Role is the set of rights that a member has in a workspace.
type Role string

// These are the values of Role. Each role includes the rights of all roles before it.
const (
	Viewer        Role = "viewer"
	Developer     Role = "developer"
	Approver      Role = "approver"
	Administrator Role = "administrator"
)

// Roles returns all roles, lowest first.
func Roles() []Role { return []Role{Viewer, Developer, Approver, Administrator} }

// Scopes returns the scopes that a role grants. An unknown role grants none.
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

// RoleWith returns the lowest role that grants at least one of the scopes.
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

// Workspace is a tenant: it owns agents, runs, secrets and tokens.
type Workspace struct {
	ID        string
	Name      string // unique on the server; the same rules apply as for the name of an agent
	Title     string
	CreatedAt time.Time
	ClosedAt  *time.Time // time at which the workspace was closed; a closed workspace rejects all access but keeps its rows and its name
}

// User is a person who can sign in.
type User struct {
	ID        string
	Name      string // sign-in name, unique on the server
	Title     string // name that other users see
	Password  string // argon2id hash with its parameters and salt; "" if the user has no password
	CreatedAt time.Time
}

// Actor returns the actor that represents the user in a workspace.
func (u User) Actor(workspace string) Actor {
	return Actor{ID: u.ID, Type: UserActor, Name: u.Title, Workspace: workspace}
}

// Member is a user with the user's role in a workspace.
type Member struct {
	User  User
	Role  Role
	Since time.Time
}

// Membership is a workspace with a user's role in it.
type Membership struct {
	Workspace Workspace
	Role      Role
	Since     time.Time
}

// Invitation is a one-time link with which a person joins a workspace. The server stores only the SHA-256 of its
// secret.
type Invitation struct {
	ID        string
	Hash      string
	Workspace string
	Role      Role
	Note      string // a note about the person who should use the invitation
	Creator   Actor
	CreatedAt time.Time
	ExpiresAt time.Time
}

const (
	mostUserName = 100
	mostTitle    = 100
)

var userName = regexp.MustCompile(`^[a-z0-9][a-z0-9._+@-]*$`)

// CheckUserName checks a sign-in name. An email address is a valid sign-in name. A name that looks like a user ID is
// invalid, because requests accept a name or an ID.
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
// direction, because a title with such characters could imitate another title.
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

// joins reports whether a character is a zero-width joiner that changes how the characters next to it look, as in emoji
// and in Persian words. In other scripts the joiner is invisible, and a title with it could imitate another title. For
// these scripts joins returns false.
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

// NoWorkspace returns the error for a workspace that does not exist. A workspace in which the caller is not a member
// gives the same error.
func NoWorkspace(nameOrID string) error {
	return fault.New(fault.NoWorkspace, "Workspace %s not found.", nameOrID)
}
