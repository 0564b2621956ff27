package registry

import "time"

// Secret is a value that versions declare by name and runs receive. Only its encrypted form is stored, and no API
// returns the value. A secret of an agent is only for that agent's runs. It takes precedence over the workspace's
// secret of the same name.
type Secret struct {
	Workspace string
	AgentID   string // "" for all agents of the workspace
	Agent     string // current name of the agent
	Name      string
	Binding   *Binding // nil for a secret that programs receive
	KeyID     string   // ID of the key that encrypted it
	Sealed    []byte
	SetAt     time.Time
	SetBy     Actor
	LastUsed  *time.Time
}

// Binding gives a secret to one host instead of to programs. The secret is sent as a header of the programs' requests
// to that host.
type Binding struct {
	Host   string `json:"host" doc:"The only host:port that the secret is sent to."`
	Header string `json:"header" doc:"Name of the header."`
	Format string `json:"format,omitempty" doc:"Value of the header, for example: Bearer {value}. {value} is replaced by the secret (default: {value})."`
}

// SecretUse records that a run received a secret.
type SecretUse struct {
	Workspace  string    `json:"-"`
	RunID      string    `json:"runId"`
	Name       string    `json:"name"`
	AgentID    string    `json:"-"` // of the secret, "" for one of the workspace
	RunAgentID string    `json:"agentId"`
	RunAgent   string    `json:"agent"`
	Version    string    `json:"version"`
	At         time.Time `json:"at"`
}

// SecretUses is a page of a list, newest first. NextCursor is empty on the last page.
type SecretUses struct {
	Items      []SecretUse `json:"items"`
	NextCursor string      `json:"nextCursor,omitempty"`
}

// SecretDeclaration records that a version or a draft declares a secret.
type SecretDeclaration struct {
	Name    string `json:"-"`
	AgentID string `json:"agentId"`
	Agent   string `json:"agent"`
	Version string `json:"version"` // draft for a draft
}
