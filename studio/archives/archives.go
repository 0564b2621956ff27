// Package archives takes agents with all their versions out of a workspace as one file, and puts them into one again. What
// was published keeps its digests and its names on the way, so that whoever pinned it goes on as before.
package archives

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/specs"
)

// Agents keeps agents, and knows those that were deleted: their names and versions are theirs for good.
type Agents interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
	AnyAgent(ctx context.Context, workspace, name string) (registry.Agent, error)
	ListAgents(ctx context.Context, workspace string, filter registry.AgentFilter) (registry.AgentPage, error)
	CreateAgent(ctx context.Context, a registry.Agent) error
	RewriteAgent(ctx context.Context, a registry.Agent) error
	RevealAgents(ctx context.Context, workspace string, ids, listed []string) error
}

// Names are what references say.
type Names interface {
	AgentIDTaken(ctx context.Context, id string) (bool, error)
	AgentNames(ctx context.Context, workspace, agentID string) ([]string, error)
	ClaimNames(ctx context.Context, workspace, agentID string, names []string) error
}

// Versions keeps what was published.
type Versions interface {
	Versions(ctx context.Context, workspace, agentID string) ([]registry.Version, error)
	Version(ctx context.Context, workspace, agentID, version string) (registry.Version, error)
	VersionDigests(ctx context.Context, workspace, agentID string) (map[string]string, error)
	ImportVersion(ctx context.Context, workspace string, v registry.Version) error
}

// Forgetter drops what is remembered of a workspace's references.
type Forgetter interface{ Forget(workspace string) }

// Quotas refuses what would be kept in a workspace that is full.
type Quotas interface {
	CheckAgentLimit(ctx context.Context, workspace string) error
}

// Options configures a Service.
type Options struct {
	Agents   Agents
	Names    Names
	Versions Versions
	Resolver Forgetter
	Quotas   Quotas // nil for none
	Specs    *specs.Checker
	Now      func() time.Time
	NewID    func() string
}

// Service is safe for concurrent use.
type Service struct {
	Options

	uploads   chan struct{} // places for archives that are being sent: each may be large
	importing chan struct{} // one at a time is unpacked
}

// maxUploads bounds how many archives are on disk at a time.
const maxUploads = 4

// New returns the service.
func New(o Options) *Service {
	return &Service{Options: o, uploads: make(chan struct{}, maxUploads), importing: make(chan struct{}, 1)}
}
