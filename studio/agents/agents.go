// Package agents implements operations on agents: create, edit, publish, export. Versions are immutable. A draft is
// saved only if the client has seen its current revision. The package contains no HTTP and no SQL and does not parse
// user code.
package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/studio/changes"
	"github.com/atelier-run/atelier/studio/engines"
	"github.com/atelier-run/atelier/studio/infer"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/pins"
	"github.com/atelier-run/atelier/studio/references"
	"github.com/atelier-run/atelier/studio/specs"
)

// Agents stores agents and their drafts.
type Agents interface {
	CreateAgent(ctx context.Context, a registry.Agent) error
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
	ListAgents(ctx context.Context, workspace string, filter registry.AgentFilter) (registry.AgentPage, error)
	CountTags(ctx context.Context, workspace string) ([]registry.TagCount, error)
	SaveDraft(ctx context.Context, a registry.Agent, expected int64) (registry.Agent, error)
	PatchAgent(ctx context.Context, a registry.Agent, read time.Time) error
	DeleteAgent(ctx context.Context, workspace, id string, force bool, at time.Time, why registry.Deletion) error
	RestoreAgent(ctx context.Context, workspace, nameOrID string) error
}

// Versions stores published versions.
type Versions interface {
	InsertVersion(ctx context.Context, workspace string, v registry.Version) error
	Versions(ctx context.Context, workspace, agentID string) ([]registry.Version, error)
	SetDeprecated(ctx context.Context, workspace, agentID, version string, deprecated bool, reason, successor string) error
}

// Numbers lists the versions of an agent with only their numbers, digests and deprecation. An agent may have thousands
// of versions, and publishing needs the full content of only a few of them.
type Numbers interface {
	Numbers(ctx context.Context, workspace, agentID string) ([]registry.Version, error)
}

// Inspector parses code in the sandbox.
type Inspector interface {
	Check(ctx context.Context, req inspect.Request) (inspect.Report, error)
	Format(ctx context.Context, script string, indent int) (string, []fault.Detail, error)
	CheckAll(ctx context.Context, programs []inspect.Request) []inspect.Result
}

// Replays runs a draft with recorded inputs, and compares its outputs with those of the latest version.
type Replays interface {
	Differing(ctx context.Context, actor registry.Actor, agent string, seen registry.Seen, count int) ([]registry.Regression, error)
}

// Gate is the policy gate. It decides whether a version may be published.
type Gate interface {
	// Publication returns the verdict about a version. Errors: PolicyBlocked; ApprovalRequired if a person must approve
	// first. In that case the gate has recorded a request for approval.
	Publication(ctx context.Context, actor registry.Actor, v registry.Version, before *registry.Version, request json.RawMessage) (*registry.Verdict, error)
	// Judge returns the verdict about a program. before is the spec whose capabilities are already approved, or nil if
	// there is none.
	Judge(ctx context.Context, workspace string, spec registry.Spec, before *registry.Spec) (*registry.Verdict, error)
	// Approved reports whether a published version counts as approved. If so, later versions may have its capabilities
	// without a new approval.
	Approved(ctx context.Context, workspace string, v registry.Version) (bool, error)
}

// Quotas rejects changes that would store more in a workspace whose quota is used up.
type Quotas interface {
	CheckAgentLimit(ctx context.Context, workspace string) error
}

// Options configures a Service.
type Options struct {
	Agents    Agents
	Histories Histories
	Changes   *changes.Hub // nil if no clients follow agents
	Quotas    Quotas       // nil if workspaces have no quotas
	Gate      Gate         // nil if the server has no gate
	Versions  Versions
	Numbers   Numbers
	Resolver  *references.Resolver
	Pins      *pins.Service
	Replays   Replays
	Tests     Tests
	Inspector Inspector
	Inference *infer.Service    // nil if schemas are not inferred
	Packages  *packages.Service // nil if packages are not supported
	Validator *specs.Validator
	Specs     *specs.Checker
	Engines   *engines.Chooser
	Now       func() time.Time
	NewID     func() string
}

// Service implements operations on agents. It is safe for concurrent use.
type Service struct {
	Options

	editing     [64]sync.Mutex // Each lock guards a group of agents during an edit, from reading to writing.
	deprecating sync.Mutex     // guards the deprecations of all agents, because a successor may belong to another agent
}

// New returns the service.
func New(o Options) *Service { return &Service{Options: o} }

// edit reads an agent in order to change it. It locks the agent on this server until done is called. Without the lock,
// a concurrent change could undo a rename.
func (s *Service) edit(ctx context.Context, actor registry.Actor, ref string) (a registry.Agent, done func(), err error) {
	if a, err = s.Agents.Agent(ctx, actor.Workspace, ref); err != nil {
		return a, nil, err
	}
	lock := &s.editing[crc32.ChecksumIEEE([]byte(a.ID))%uint32(len(s.editing))]
	lock.Lock()
	if a, err = s.Agents.Agent(ctx, actor.Workspace, a.ID); err != nil {
		lock.Unlock()
		return a, nil, err
	}
	return a, lock.Unlock, nil
}

// Input holds the fields of an agent and its draft that a client may set. For a nil field, Create uses the default, and
// Save leaves the value unchanged. Code is a short form of Files for a single entry file.
type Input struct {
	Name             *string                   `json:"name,omitempty"`
	Title            *string                   `json:"title,omitempty"`
	Description      *string                   `json:"description,omitempty"`
	Tags             *[]string                 `json:"tags,omitempty"`
	Metadata         json.RawMessage           `json:"metadata,omitempty"`
	Language         *runtimes.Language        `json:"language,omitempty"`
	Runtime          *runtimes.Name            `json:"runtime,omitempty"`
	Isolation        *runtimes.Isolation       `json:"isolation,omitempty"`
	Code             *string                   `json:"code,omitempty"`
	Files            *map[string]registry.File `json:"files,omitempty"`
	Entrypoint       *string                   `json:"entrypoint,omitempty"`
	InputSchema      json.RawMessage           `json:"inputSchema,omitempty"`
	OutputSchema     json.RawMessage           `json:"outputSchema,omitempty"`
	Packages         *[]string                 `json:"packages,omitempty"`
	Environment      *map[string]string        `json:"environment,omitempty"`
	Secrets          *[]string                 `json:"secrets,omitempty"`
	Capabilities     *runtimes.Capabilities    `json:"capabilities,omitempty"`
	Limits           *runtimes.Limits          `json:"limits,omitempty"`
	SafetyFlags      *[]string                 `json:"safetyFlags,omitempty"`
	RequiresApproval *bool                     `json:"requiresApproval,omitempty"`
	Deterministic    *bool                     `json:"deterministic,omitempty"`
	Rules            *runtimes.Rules           `json:"rules,omitempty"` // The rule pack "none" removes all rules.

	Tests *[]registry.Test `json:"tests,omitempty"`

	// SchemaSources states how new schemas were made. Without it, a new schema counts as written by a person.
	SchemaSources *registry.SchemaSources `json:"schemaSources,omitempty"`

	// Session is the browser session that sends the change, or "" for other clients. Consecutive saves of one session may
	// share one history entry.
	Session string `json:"-"`
}

// Create creates an agent with its draft at revision 1.
func (s *Service) Create(ctx context.Context, actor registry.Actor, in Input) (registry.Agent, error) {
	a, err := s.Compose(ctx, actor, in)
	if err != nil {
		return registry.Agent{}, err
	}
	if len(in.InputSchema) == 0 && len(in.OutputSchema) == 0 {
		s.inferSchemas(ctx, actor, &a.Draft)
	}
	return a, s.Agents.CreateAgent(ctx, a)
}

// Compose returns the agent that Create would store, without storing it. A caller can then store the agent together
// with other data in one transaction.
func (s *Service) Compose(ctx context.Context, actor registry.Actor, in Input) (registry.Agent, error) {
	now := s.Now()
	a := registry.Agent{
		ID: s.NewID(), Workspace: actor.Workspace, Tags: []string{}, Metadata: json.RawMessage(`{}`), Draft: registry.FirstDraft(registry.Spec{}, actor, now),
		Changelog: []registry.ChangelogEntry{}, CreatedAt: now, CreatedBy: actor.ID, Creator: actor, Editor: actor, UpdatedAt: now,
	}
	if err := s.checkAgentLimit(ctx, actor); err != nil {
		return registry.Agent{}, err
	}
	if in.Language == nil {
		return registry.Agent{}, fault.Invalid("/language", "must be typescript, javascript, python, bash or wasm.")
	}
	if in.Name == nil {
		return registry.Agent{}, fault.Invalid("/name", "is required.")
	}
	a.Name = *in.Name
	return s.apply(ctx, actor, a, in)
}

// checkAgentLimit returns an error if the workspace has used up its quota.
func (s *Service) checkAgentLimit(ctx context.Context, actor registry.Actor) error {
	if s.Quotas == nil {
		return nil
	}
	return s.Quotas.CheckAgentLimit(ctx, actor.Workspace)
}

// Get returns an agent with its draft, by name or ID.
func (s *Service) Get(ctx context.Context, actor registry.Actor, ref string) (registry.Agent, error) {
	return s.Agents.Agent(ctx, actor.Workspace, ref)
}

// List returns a page of agents without their files.
func (s *Service) List(ctx context.Context, actor registry.Actor, filter registry.AgentFilter) (registry.AgentPage, error) {
	return s.Agents.ListAgents(ctx, actor.Workspace, filter)
}

// Tags returns the tags of the workspace's agents, the most frequent first.
func (s *Service) Tags(ctx context.Context, actor registry.Actor) ([]registry.TagCount, error) {
	return s.Agents.CountTags(ctx, actor.Workspace)
}

// Save replaces those fields of the draft that the input sets. The caller must have seen the current revision, else the
// error is StaleDraft.
func (s *Service) Save(ctx context.Context, actor registry.Actor, ref string, seen registry.Seen, in Input) (registry.Agent, error) {
	if err := s.checkAgentLimit(ctx, actor); err != nil {
		return registry.Agent{}, err
	}
	a, done, err := s.edit(ctx, actor, ref)
	if err != nil {
		return registry.Agent{}, err
	}
	defer done()
	if in.Name != nil && *in.Name != a.Name {
		return registry.Agent{}, fault.Invalid("/name", "must not be changed by saving the draft; rename with PATCH.")
	}
	if a, err = s.apply(ctx, actor, a, in); err != nil {
		return registry.Agent{}, err
	}
	a.Draft.Session = in.Session
	return s.saveDraft(ctx, actor, a, seen)
}

// Patch changes the title, description, tags, metadata and name, as far as the input sets them. It does not change the
// draft.
func (s *Service) Patch(ctx context.Context, actor registry.Actor, ref string, in Input) (a registry.Agent, err error) {
	for range patchTries {
		if a, err = s.patchOnce(ctx, actor, ref, in); !fault.Is(err, fault.Conflict) {
			break
		}
	}
	return a, err
}

// patchTries is the maximum number of attempts of a patch, which is repeated if another server changes the same agent.
const patchTries = 10

func (s *Service) patchOnce(ctx context.Context, actor registry.Actor, ref string, in Input) (registry.Agent, error) {
	a, done, err := s.edit(ctx, actor, ref)
	if err != nil {
		return registry.Agent{}, err
	}
	defer done()
	if in.Name != nil {
		a.Name = *in.Name
	}
	only := Input{Title: in.Title, Description: in.Description, Tags: in.Tags, Metadata: in.Metadata}
	if a, err = s.describe(a, only); err != nil {
		return registry.Agent{}, err
	}
	read := a.UpdatedAt
	a.UpdatedAt, a.Editor = s.Now(), actor
	if err := s.Agents.PatchAgent(ctx, a, read); err != nil {
		return registry.Agent{}, err
	}
	s.Resolver.Forget(actor.Workspace)
	return a, nil
}

// Delete marks an agent as deleted: it disappears from every list, but its name cannot be reused and its versions are
// kept. While a pin references one of its versions, Delete returns Conflict with the list of pins, unless it is forced.
// Delete records the actor and the comment.
func (s *Service) Delete(ctx context.Context, actor registry.Actor, ref string, force bool, comment string) error {
	if err := registry.CheckText("/comment", comment); err != nil {
		return err
	}
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return err
	}
	pins, err := s.Pins.Holding(ctx, actor.Workspace, a.ID)
	if err != nil {
		return err
	}
	if len(pins) > 0 && !force {
		refused := fault.New(fault.Conflict, "%s is pinned by: %s. Ask these owners to remove their pins first, or delete the agent with force=true.", a.Name, owners(pins))
		refused.Extra = map[string]any{"pins": pins}
		return refused
	}
	if err := s.Agents.DeleteAgent(ctx, actor.Workspace, a.ID, force, s.Now(), registry.Deletion{By: actor.Name, Comment: comment}); err != nil {
		return err
	}
	s.Changes.Deleted(a.ID)
	s.Resolver.Forget(actor.Workspace)
	return nil
}

// mostNamed is the maximum number of pin owners that an error lists.
const mostNamed = 5

func owners(pins []registry.Pin) string {
	var names []string
	for _, p := range pins {
		if name := cmp.Or(p.Label, p.Owner); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > mostNamed {
		names = append(names[:mostNamed], fmt.Sprintf("and %d more", len(names)-mostNamed))
	}
	return strings.Join(names, ", ")
}

// apply sets the fields of an agent from an input and checks the result.
func (s *Service) apply(ctx context.Context, actor registry.Actor, a registry.Agent, in Input) (registry.Agent, error) {
	a, err := s.describe(a, in)
	if err != nil {
		return a, err
	}
	if in.Code != nil && in.Files != nil {
		return a, fault.Invalid("/code", "must not be combined with files.")
	}
	before := a.Draft.Spec
	next := overlay(before.Current(), in)
	if a.Draft.Spec, err = s.Specs.Complete(next); err != nil {
		return a, err
	}
	if err := setSources(&a.Draft, before, in.SchemaSources); err != nil {
		return a, err
	}
	if in.Tests != nil {
		if a.Draft.Tests, err = s.checkTests(*in.Tests); err != nil {
			return a, err
		}
	}
	if err := s.Specs.Grants(a.Workspace, a.Draft.Spec); err != nil {
		return a, err
	}
	return a, s.checkModule(ctx, actor, a.Draft.Spec, in)
}

// checkModule rejects a WebAssembly module that cannot run. Source code may be saved with errors, because it can be
// edited later; a module cannot.
func (s *Service) checkModule(ctx context.Context, actor registry.Actor, spec registry.Spec, in Input) error {
	if spec.Language != runtimes.WASM || in.Files == nil && in.Entrypoint == nil && in.Language == nil {
		return nil
	}
	report, err := s.Inspector.Check(ctx, s.question(actor, spec, spec.Runtime))
	if err != nil {
		return err
	}
	if len(report.Errors) > 0 {
		return &fault.Error{Code: fault.InvalidInput, Message: "The module was not saved because it cannot run.", Details: report.Errors}
	}
	return nil
}

// overlay returns the spec with the fields that the input sets.
func overlay(spec registry.Spec, in Input) registry.Spec {
	set(&spec.Language, in.Language)
	set(&spec.Runtime, in.Runtime)
	set(&spec.Isolation, in.Isolation)
	set(&spec.Entrypoint, in.Entrypoint)
	set(&spec.Files, in.Files)
	if in.Code != nil {
		if spec.Entrypoint == "" {
			spec.Entrypoint = specs.Entrypoint(spec.Language)
		}
		spec.Files = map[string]registry.File{spec.Entrypoint: registry.File(*in.Code)}
	}
	if len(in.InputSchema) > 0 {
		spec.InputSchema = in.InputSchema
	}
	if len(in.OutputSchema) > 0 {
		spec.OutputSchema = in.OutputSchema
	}
	set(&spec.Packages, in.Packages)
	set(&spec.Environment, in.Environment)
	set(&spec.Secrets, in.Secrets)
	set(&spec.Capabilities, in.Capabilities)
	set(&spec.Limits, in.Limits)
	set(&spec.SafetyFlags, in.SafetyFlags)
	set(&spec.RequiresApproval, in.RequiresApproval)
	set(&spec.Deterministic, in.Deterministic)
	if in.Rules != nil {
		spec.Rules = in.Rules
	}
	return spec
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// describe sets the descriptive fields of an agent from an input and checks them.
func (s *Service) describe(a registry.Agent, in Input) (registry.Agent, error) {
	set(&a.Title, in.Title)
	set(&a.Description, in.Description)
	set(&a.Tags, in.Tags)
	if len(in.Metadata) > 0 {
		a.Metadata = in.Metadata
	}
	return a, registry.CheckAbout(a)
}
