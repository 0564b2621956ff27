package registry

import "time"

// Token is a bearer credential. Only the SHA-256 of its secret is stored, and the secret is shown once.
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

// TokenAgent is an agent that a token is restricted to. The ID decides; Name is the agent's name when the token was
// created.
type TokenAgent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Session is a browser session. Only the SHA-256 of the cookie is stored.
type Session struct {
	Hash      string
	Actor     Actor
	Device    Device
	CreatedAt time.Time
	LastUsed  *time.Time
	ExpiresAt time.Time
}

// ID returns the public ID of a session. It is a prefix of the hash, so it reveals nothing about the cookie.
func (s Session) ID() string { return SessionID(s.Hash) }

// SessionIDLength is the number of characters of a cookie's hash that form the session's ID.
const SessionIDLength = 32

// SessionID returns the ID of the session with the given hash.
func SessionID(hash string) string { return hash[:min(len(hash), SessionIDLength)] }

// Device describes the device on which a session was opened, as far as the browser reported it.
type Device struct {
	Address string
	Browser string
}

// SignInFailures counts the wrong secrets that were sent from a network. The count expires.
type SignInFailures struct {
	Source string // an address, or the network assigned to one client
	Count  int
	Until  time.Time
}

// IdempotencyKey stores the response to a mutation for a day. Body is nil while the first request is in progress.
type IdempotencyKey struct {
	Workspace string
	Owner     string // the caller's actor ID and workspace
	Key       string
	BodyHash  string // hash of method, path and body; the same key with another request is rejected
	Status    int
	Body      []byte
	Made      Made // zero while the request has created nothing
	ExpiresAt time.Time
}
