package registry

import "time"

// Token is a bearer credential. Only the SHA-256 of its secret is kept, and the secret is shown once.
type Token struct {
	ID        string       `json:"id"`
	Workspace string       `json:"-"`
	Name      string       `json:"name"`
	Hash      string       `json:"-"`
	Scopes    []Scope      `json:"scopes"`
	Agents    []TokenAgent `json:"agents" doc:"Agents that the token is restricted to. Empty for all agents."`
	CreatedAt time.Time    `json:"createdAt"`
	CreatedBy string       `json:"createdBy"` // the creator's ID
	Creator   Actor        `json:"-"`
	User      string       `json:"-"` // the person for whom it acts, "" for the host's own
	LastUsed  *time.Time   `json:"lastUsedAt,omitempty"`
	ExpiresAt *time.Time   `json:"expiresAt,omitempty"`
	RevokedAt *time.Time   `json:"revokedAt,omitempty"`
}

// TokenAgent is an agent that a token is restricted to. The ID decides; the name is that of the day the token was made.
type TokenAgent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Session is a browser's login. Only the SHA-256 of the cookie is kept.
type Session struct {
	Hash      string
	Actor     Actor
	Device    Device
	CreatedAt time.Time
	LastUsed  *time.Time
	ExpiresAt time.Time
}

// ID names a session to people. It is part of the hash, which tells nothing about the cookie.
func (s Session) ID() string { return SessionID(s.Hash) }

// SessionIDLength is how much of the hash of a cookie its session's ID is.
const SessionIDLength = 32

// SessionID is the ID of the session with a hash.
func SessionID(hash string) string { return hash[:min(len(hash), SessionIDLength)] }

// Device is where a session was opened, as far as it told.
type Device struct {
	Address string
	Browser string
}

// LoginFailures is how often a network has shown a wrong secret. It counts until the time is over.
type LoginFailures struct {
	Source string // an address, or the network that one client has
	Count  int
	Until  time.Time
}

// IdempotencyKey remembers the answer to a mutation for a day. Body is nil while the first request is still at work.
type IdempotencyKey struct {
	Workspace string
	Owner     string // the caller's actor ID with its workspace
	Key       string
	BodyHash  string // of method, path and body: the same key with another request is refused
	Status    int
	Body      []byte
	ExpiresAt time.Time
}
