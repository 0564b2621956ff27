// Package access knows who asks: bearer tokens, sessions of browsers and the one-time login link. It keeps only hashes of
// secrets and never logs one.
package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Tokens keeps bearer tokens.
type Tokens interface {
	PutToken(ctx context.Context, t registry.Token) error
	TokenByHash(ctx context.Context, hash string) (registry.Token, error)
	Tokens(ctx context.Context, workspace string) ([]registry.Token, error)
	RevokeToken(ctx context.Context, workspace, id string, at time.Time) error
	TouchToken(ctx context.Context, t registry.Token, at time.Time) error
}

// Sessions keeps the logins of browsers and the links that lead to one.
type Sessions interface {
	PutSession(ctx context.Context, s registry.Session) error
	SessionByHash(ctx context.Context, hash string) (registry.Session, error)
	DeleteSession(ctx context.Context, hash string) error
	PutLoginLink(ctx context.Context, hash string, expires time.Time) error
	TakeLoginLink(ctx context.Context, hash string, now time.Time) (bool, error)
}

const (
	sessionFor = 30 * 24 * time.Hour
	linkFor    = 15 * time.Minute
	prefix     = "atl_"
)

// Options configures a Service. Admin is the administrator's fixed token, "" for none.
type Options struct {
	Tokens   Tokens
	Sessions Sessions
	Admin    string
	Now      func() time.Time
	NewID    func() string
}

// Service is safe for concurrent use.
type Service struct {
	tokens   Tokens
	sessions Sessions
	admin    string // hash of the administrator's fixed token, "" for none
	now      func() time.Time
	newID    func() string
}

// New returns the service.
func New(o Options) *Service {
	s := &Service{tokens: o.Tokens, sessions: o.Sessions, now: o.Now, newID: o.NewID}
	if o.Admin != "" {
		s.admin = hash(o.Admin)
	}
	return s
}

// Administrator is the one person of a server without user accounts.
func Administrator() registry.Actor {
	return registry.Actor{ID: "admin", Type: registry.UserActor, Name: "Administrator", Workspace: registry.DefaultWorkspace}
}

func unauthenticated() error {
	return fault.New(fault.Unauthenticated, "This needs a valid token or session; open the login link that the server printed, or send Authorization: Bearer.")
}

// Authenticate returns the actor of a bearer token, or an Unauthenticated error that says nothing about why.
func (s *Service) Authenticate(ctx context.Context, secret string) (registry.Actor, error) {
	actor, _, err := s.authenticate(ctx, secret)
	return actor, err
}

// authenticate also tells when the token expires, nil for never.
func (s *Service) authenticate(ctx context.Context, secret string) (registry.Actor, *time.Time, error) {
	h := hash(secret)
	if s.admin != "" && subtle.ConstantTimeCompare([]byte(h), []byte(s.admin)) == 1 {
		return Administrator(), nil, nil
	}
	t, err := s.tokens.TokenByHash(ctx, h)
	if fault.Is(err, fault.NotFound) {
		return registry.Actor{}, nil, unauthenticated()
	}
	if err != nil {
		return registry.Actor{}, nil, err
	}
	if t.RevokedAt != nil || (t.ExpiresAt != nil && !s.now().Before(*t.ExpiresAt)) {
		return registry.Actor{}, nil, unauthenticated()
	}
	if err := s.tokens.TouchToken(ctx, t, s.now()); err != nil {
		return registry.Actor{}, nil, err
	}
	return registry.Actor{ID: t.ID, Type: registry.TokenActor, Name: t.Name, Workspace: t.Workspace}, t.ExpiresAt, nil
}

// Session returns the actor of a session cookie.
func (s *Service) Session(ctx context.Context, cookie string) (registry.Actor, error) {
	session, err := s.sessions.SessionByHash(ctx, hash(cookie))
	if fault.Is(err, fault.NotFound) || (err == nil && !s.now().Before(session.ExpiresAt)) {
		return registry.Actor{}, unauthenticated()
	}
	return session.Actor, err
}

// LoginLink returns the secret of a new link that logs one browser in as the administrator, once, within 15 minutes.
func (s *Service) LoginLink(ctx context.Context) (string, error) {
	secret := newSecret("")
	return secret, s.sessions.PutLoginLink(ctx, hash(secret), s.now().Add(linkFor))
}

// Redeem spends a login link and returns a session cookie with its expiry.
func (s *Service) Redeem(ctx context.Context, link string) (string, time.Time, error) {
	ok, err := s.sessions.TakeLoginLink(ctx, hash(link), s.now())
	if err != nil {
		return "", time.Time{}, err
	}
	if !ok {
		return "", time.Time{}, fault.New(fault.Unauthenticated, "This login link was used or has expired; restart the server for a new one, or paste a token.")
	}
	return s.open(ctx, Administrator(), nil)
}

// Login trades a bearer token for a session cookie with its expiry, which is not after that of the token.
func (s *Service) Login(ctx context.Context, token string) (string, time.Time, error) {
	actor, latest, err := s.authenticate(ctx, token)
	if err != nil {
		return "", time.Time{}, err
	}
	return s.open(ctx, actor, latest)
}

// open stores a session that ends at latest, if that is not nil.
func (s *Service) open(ctx context.Context, actor registry.Actor, latest *time.Time) (string, time.Time, error) {
	cookie, now := newSecret(""), s.now()
	session := registry.Session{Hash: hash(cookie), Actor: actor, CreatedAt: now, ExpiresAt: now.Add(sessionFor)}
	if latest != nil && latest.Before(session.ExpiresAt) {
		session.ExpiresAt = *latest
	}
	return cookie, session.ExpiresAt, s.sessions.PutSession(ctx, session)
}

// Logout ends a session. An unknown one is no error.
func (s *Service) Logout(ctx context.Context, cookie string) error {
	return s.sessions.DeleteSession(ctx, hash(cookie))
}

// CreateToken makes a bearer token for the actor's workspace. The secret is returned this once.
func (s *Service) CreateToken(ctx context.Context, actor registry.Actor, name string, expires *time.Time) (string, registry.Token, error) {
	if name == "" || len(name) > 100 {
		return "", registry.Token{}, fault.Invalid("/name", "A token's name has 1 to 100 bytes.")
	}
	if expires != nil && !s.now().Before(*expires) {
		return "", registry.Token{}, fault.Invalid("/expiresAt", "The expiry must be in the future.")
	}
	secret := newSecret(prefix)
	t := registry.Token{
		ID: s.newID(), Workspace: actor.Workspace, Name: name, Hash: hash(secret),
		CreatedAt: s.now(), CreatedBy: actor.ID, Creator: actor, ExpiresAt: expires,
	}
	return secret, t, s.tokens.PutToken(ctx, t)
}

// ListTokens returns the tokens of the actor's workspace, without secrets.
func (s *Service) ListTokens(ctx context.Context, actor registry.Actor) ([]registry.Token, error) {
	return s.tokens.Tokens(ctx, actor.Workspace)
}

// RevokeToken makes a token useless at once, and the sessions that it opened.
func (s *Service) RevokeToken(ctx context.Context, actor registry.Actor, id string) error {
	return s.tokens.RevokeToken(ctx, actor.Workspace, id, s.now())
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// newSecret returns 256 random bits in URL-safe base64.
func newSecret(prefix string) string {
	var b [32]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}
