package registry

import "time"

// Token is a bearer credential. The server stores only the SHA-256 of the secret, and shows the secret once.
type Token struct {
	ID        string       `json:"id"`
	Workspace string       `json:"-"`
	Name      string       `json:"name"`
	Hash      string       `json:"-"`
	Scopes    []Scope      `json:"scopes"`
	Agents    []TokenAgent `json:"agents" doc:"Agents that the token is restricted to. Empty for all agents."`
	CreatedAt time.Time    `json:"createdAt"`
	CreatedBy string       `json:"createdBy"` // ID of the creator
	Creator   Actor        `json:"-"`
	User      string       `json:"-"` // ID of the person for whom the token acts, "" for a token of the server's operator
	LastUsed  *time.Time   `json:"lastUsedAt,omitempty"`
	ExpiresAt *time.Time   `json:"expiresAt,omitempty"`
	RevokedAt *time.Time   `json:"revokedAt,omitempty"`
}

// TokenAgent is an agent to which a token is restricted. The ID decides about access. Name is the agent's name when the
// token was created.
type TokenAgent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Session is a browser session. The server stores only the SHA-256 of the session's cookie.
type Session struct {
	Hash      string
	Actor     Actor
	Device    Device
	CreatedAt time.Time
	LastUsed  *time.Time
	ExpiresAt time.Time
}

// ID returns the public ID of a session. The ID is a prefix of the cookie's hash, so it reveals nothing about the
// cookie.
func (s Session) ID() string { return SessionID(s.Hash) }

// SessionIDLength is the number of characters of the cookie's hash that form the session's ID.
const SessionIDLength = 32

// SessionID returns the ID of the session with the given hash.
func SessionID(hash string) string { return hash[:min(len(hash), SessionIDLength)] }

// Device describes the device on which a person opened a session, as far as the browser reported it.
type Device struct {
	Address string
	Browser string
}

// SignInFailures is the number of wrong secrets that arrived from one network. The count expires at Until.
type SignInFailures struct {
	Source string // an address, or the network that one client has
	Count  int
	Until  time.Time
}

// IdempotencyKey stores the response to a changing request for a day. Body is nil while the first request is in
// progress.
type IdempotencyKey struct {
	Workspace string
	Owner     string // the caller's actor ID and workspace, which separate the keys of different callers
	Key       string
	BodyHash  string // hash of method, path and body; the server rejects the same key for another request
	Status    int
	Body      []byte
	Made      Made // zero if the request has not created a resource
	ExpiresAt time.Time
	Server    string // the server that reserved the key
	Ended     bool   // that server has ended; only FindKey sets it
}
