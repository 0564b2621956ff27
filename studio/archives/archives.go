// Package archives exports the agents of a workspace, with all their versions, to one file, and imports such files.
// Published versions keep their digests and names, so that existing pins remain valid.
package archives

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/references"
	"github.com/atelier-run/atelier/studio/specs"
)

// Agents stores agents. It also returns deleted agents, which keep their names and versions.
type Agents interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
	AnyAgent(ctx context.Context, workspace, name string) (registry.Agent, error)
	ListAgents(ctx context.Context, workspace string, filter registry.AgentFilter) (registry.AgentPage, error)
	CreateAgent(ctx context.Context, a registry.Agent) error
	RewriteAgent(ctx context.Context, a registry.Agent) error
	RevealAgents(ctx context.Context, workspace string, ids, listed []string) error
}

// Names stores the current and former names of agents. References may use either.
type Names interface {
	AgentIDTaken(ctx context.Context, id string) (bool, error)
	AgentNames(ctx context.Context, workspace, agentID string) ([]string, error)
	ClaimNames(ctx context.Context, workspace, agentID string, names []string) error
}

// Versions stores published versions.
type Versions interface {
	Versions(ctx context.Context, workspace, agentID string) ([]registry.Version, error)
	Version(ctx context.Context, workspace, agentID, version string) (registry.Version, error)
	VersionDigests(ctx context.Context, workspace, agentID string) (map[string]string, error)
	ImportVersion(ctx context.Context, workspace string, v registry.Version) error
}

// Quotas rejects an import into a workspace whose quota is used up.
type Quotas interface {
	CheckAgentLimit(ctx context.Context, workspace string) error
}

// Options configures a Service.
type Options struct {
	Agents   Agents
	Names    Names
	Versions Versions
	Resolver *references.Resolver
	Quotas   Quotas // nil without quotas
	Specs    *specs.Checker
	Now      func() time.Time
	NewID    func() string
}

// Service exports and imports archives. It is safe for concurrent use.
type Service struct {
	Options

	uploads   chan struct{} // slots for concurrent uploads; their number is limited because each upload may be large
	importing chan struct{} // single slot for unpacking an archive
}

// maxUploads is the maximum number of concurrent uploads. Each upload is stored on disk.
const maxUploads = 4

// New returns the service.
func New(o Options) *Service {
	return &Service{Options: o, uploads: make(chan struct{}, maxUploads), importing: make(chan struct{}, 1)}
}
