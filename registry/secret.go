package registry

import "time"

// Secret is a value that versions declare by name and runs are given. Only its sealed form is kept, and nobody is told it.
// One of an agent is for the runs of that agent alone and goes before the one of the workspace.
type Secret struct {
	Workspace string
	AgentID   string // "" for all agents of the workspace
	Agent     string // present name of the agent
	Name      string
	Binding   *Binding // nil for one that programs are given
	KeyID     string   // of the key that sealed it
	Sealed    []byte
	SetAt     time.Time
	SetBy     Actor
	LastUsed  *time.Time
}

// Binding gives a secret to one host instead of to programs: as a header of the requests that they send there.
type Binding struct {
	Host   string `json:"host" doc:"The only host:port that the secret is sent to."`
	Header string `json:"header" doc:"Name of the header."`
	Format string `json:"format,omitempty" doc:"Value of the header, for example: Bearer {value}. {value} is replaced by the secret (default: {value})."`
}

// SecretUse says that a run was given a secret.
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

// SecretDeclaration says that a version, or a draft, declares a secret.
type SecretDeclaration struct {
	Name    string `json:"-"`
	AgentID string `json:"agentId"`
	Agent   string `json:"agent"`
	Version string `json:"version"` // draft for a draft
}
