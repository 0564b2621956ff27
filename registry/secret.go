package registry

import "time"

// Secret is a value that versions declare by name and runs receive. The server stores only its encrypted form, and no
// API returns the value. A secret of an agent is only for runs of that agent. It takes precedence over the workspace's
// secret of the same name.
type Secret struct {
	Workspace string
	AgentID   string // "" for all agents of the workspace
	Agent     string // current name of that agent
	Name      string
	Binding   *Binding // nil if programs receive the secret
	KeyID     string   // ID of the key with which the secret is encrypted
	Sealed    []byte
	SetAt     time.Time
	SetBy     Actor
	LastUsed  *time.Time
}

// Binding assigns a secret to one host. Programs do not receive the secret. The egress proxy adds it as a header to the
// programs' requests to that host.
type Binding struct {
	Host   string `json:"host" doc:"The only host:port that the secret is sent to."`
	Header string `json:"header" doc:"Name of the header."`
	Format string `json:"format,omitempty" doc:"Value of the header, for example: Bearer {value}. {value} is replaced with the secret (default: {value})."`
}

// SecretUse records that a run received a secret.
type SecretUse struct {
	Workspace  string    `json:"-"`
	RunID      string    `json:"runId"`
	Name       string    `json:"name"`
	AgentID    string    `json:"-"` // agent of the secret, "" for a secret of the workspace
	RunAgentID string    `json:"agentId"`
	RunAgent   string    `json:"agent"`
	Version    string    `json:"version"`
	At         time.Time `json:"at"`
}

// SecretUses is a page of a list of uses, newest first. NextCursor is empty on the last page.
type SecretUses struct {
	Items      []SecretUse `json:"items"`
	NextCursor string      `json:"nextCursor,omitempty"`
}

// SecretDeclaration records that a version or a draft declares a secret.
type SecretDeclaration struct {
	Name    string `json:"-"`
	AgentID string `json:"agentId"`
	Agent   string `json:"agent"`
	Version string `json:"version"` // "draft" for a draft
}
