// Package access identifies callers and their rights. It manages people, their memberships in workspaces, bearer
// tokens, browser sessions and one-time links. It stores only hashes of secrets and never logs a secret.
package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Tokens stores bearer tokens.
type Tokens interface {
	PutToken(ctx context.Context, t registry.Token) error
	TokenByHash(ctx context.Context, hash string) (registry.Token, error)
	Token(ctx context.Context, workspace, id string) (registry.Token, error)
	Tokens(ctx context.Context, workspace string) ([]registry.Token, error)
	RevokeToken(ctx context.Context, workspace, id string, at time.Time) error
	TouchTokens(ctx context.Context, uses map[string]time.Time) error
}

// Agents reads the agents to which a token is restricted.
type Agents interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
}

// Sessions stores browser sessions and one-time sign-in links.
type Sessions interface {
	PutSession(ctx context.Context, s registry.Session, most int) (ended int, err error)
	SessionByHash(ctx context.Context, hash string) (registry.Session, error)
	DeleteSession(ctx context.Context, hash string) error
	Sessions(ctx context.Context, workspace string, now time.Time) ([]registry.Session, error)
	EndSession(ctx context.Context, workspace, id string) error
	SessionsOf(ctx context.Context, user string, now time.Time) ([]registry.Session, error)
	EndSessionOf(ctx context.Context, user, id string) error
	TouchSessions(ctx context.Context, uses map[string]time.Time) error
	PutSignInLink(ctx context.Context, hash, user string, expires time.Time) error
	ConsumeSignInLink(ctx context.Context, hash string, now time.Time) (user string, err error)
}

// Users stores people and returns their workspaces.
type Users interface {
	User(ctx context.Context, id string) (registry.User, error)
	UserByName(ctx context.Context, name string) (registry.User, error)
	SetPassword(ctx context.Context, user, password, keepSession string) error
	Memberships(ctx context.Context, user string) ([]registry.Membership, error)
}

// Members stores the members of workspaces. It rejects a change that would leave a workspace without an administrator.
type Members interface {
	Members(ctx context.Context, workspace string) ([]registry.Member, error)
	SetRole(ctx context.Context, workspace, user string, role registry.Role) error
	RemoveMember(ctx context.Context, workspace, user string, at time.Time) error
}

// Invitations stores the links with which people become members.
type Invitations interface {
	PutInvitation(ctx context.Context, i registry.Invitation, by string) error
	Invitations(ctx context.Context, workspace string, now time.Time) ([]registry.Invitation, error)
	InvitationByHash(ctx context.Context, hash string) (registry.Invitation, error)
	RevokeInvitation(ctx context.Context, workspace, id string) error
	Accept(ctx context.Context, hash string, user registry.User, isNew bool, now time.Time) error
}

// Workspaces stores workspaces.
type Workspaces interface {
	CreateWorkspace(ctx context.Context, w registry.Workspace, administrator string) error
	Workspace(ctx context.Context, nameOrID string) (registry.Workspace, error)
	Workspaces(ctx context.Context) ([]registry.Workspace, error)
	DescribeWorkspace(ctx context.Context, id, title string) error
	CloseWorkspace(ctx context.Context, id string, at time.Time) error
}

const (
	sessionFor = 30 * 24 * time.Hour
	linkFor    = 15 * time.Minute
	// mostSessions is the maximum number of browser sessions of a person or token. A new session beyond it ends the
	// oldest one.
	mostSessions = 100
)

// Options configures a Service. Admin is the administrator's fixed token, "" for none. The default Cost is the one that
// RFC 9106 recommends for limited memory.
type Options struct {
	Tokens      Tokens
	Sessions    Sessions
	Agents      Agents
	Users       Users
	Members     Members
	Invitations Invitations
	Workspaces  Workspaces
	Identities  Identities
	Groups      []GroupRole // maps groups of the identity provider to roles
	Provider    Provider    // nil if the server accepts no access tokens of an identity provider
	Audiences   []string    // audiences that access tokens may name, in addition to the address of the called resource
	Admin       string
	Cost        Cost
	Now         func() time.Time
	NewID       func() string
}

// Service authenticates callers and manages their rights. It is safe for concurrent use.
type Service struct {
	tokens      Tokens
	sessions    Sessions
	agents      Agents
	users       Users
	members     Members
	invitations Invitations
	workspaces  Workspaces
	identities  Identities
	groups      []GroupRole
	provider    Provider
	audiences   []string
	delegations delegations
	admin       string // hash of the administrator's fixed token, "" for none
	now         func() time.Time
	newID       func() string
	cost        Cost
	callers     *callers
	uses        *uses         // time of last use of each token, by token ID
	visits      *uses         // time of last use of each session, by the hash of the cookie
	hashing     chan struct{} // slots for concurrent password hashing
	argon2      func(password, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte
}

// New returns the service.
func New(o Options) *Service {
	s := &Service{
		tokens: o.Tokens, sessions: o.Sessions, agents: o.Agents, users: o.Users, members: o.Members, invitations: o.Invitations, workspaces: o.Workspaces,
		identities: o.Identities, groups: o.Groups, provider: o.Provider, audiences: o.Audiences, delegations: delegations{known: map[string]delegated{}, newest: map[string]time.Time{}},
		now: o.Now, newID: o.NewID, cost: cmp.Or(o.Cost, rfc9106()),
		callers: newCallers(), uses: newUses(), visits: newUses(), hashing: make(chan struct{}, hashesAtOnce), argon2: argon2.IDKey,
	}
	if o.Admin != "" {
		s.admin = hash(o.Admin)
	}
	return s
}

// Administrator returns the only person of a single-user server.
func Administrator() registry.Actor {
	return registry.Actor{ID: registry.DefaultUser, Type: registry.UserActor, Name: "Administrator", Workspace: registry.DefaultWorkspace}
}

// Host returns the server's operator as a caller. The operator has all rights in the default workspace, even without
// being a member.
func Host() registry.Caller {
	return registry.Caller{Actor: Administrator(), Workspace: defaultWorkspace(), Scopes: []registry.Scope{registry.AdminScope}}
}

func defaultWorkspace() registry.Workspace {
	return registry.Workspace{ID: registry.DefaultWorkspace, Name: registry.DefaultWorkspace, Title: "Default"}
}

func unauthenticated() error {
	return fault.New(fault.Unauthenticated, "A valid token or session is required. Open the sign-in link that the server printed, or send Authorization: Bearer TOKEN.")
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// newSecret returns the given prefix followed by 256 random bits in URL-safe base64.
func newSecret(prefix string) string {
	var b [32]byte
	rand.Read(b[:]) // Read never fails: crypto/rand ends the process on an error.
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}
