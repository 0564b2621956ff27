// Package agents is what people do with agents: create, edit, publish, export. Versions are immutable; a draft is saved
// only by someone who saw its current revision. The package knows neither HTTP nor SQL and parses no user code.
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
	"github.com/atelier-run/atelier/studio/references"
	"github.com/atelier-run/atelier/studio/specs"
)

// Agents keeps agents and their drafts.
type Agents interface {
	CreateAgent(ctx context.Context, a registry.Agent) error
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
	ListAgents(ctx context.Context, workspace string, filter registry.AgentFilter) (registry.AgentPage, error)
	SaveDraft(ctx context.Context, a registry.Agent, expected int64) (registry.Agent, error)
	PatchAgent(ctx context.Context, a registry.Agent) error
	DeleteAgent(ctx context.Context, workspace, id string, force bool, at time.Time, why registry.Deletion) error
	RestoreAgent(ctx context.Context, workspace, nameOrID string) error
}

// Versions keeps what was published.
type Versions interface {
	InsertVersion(ctx context.Context, workspace string, v registry.Version) error
	Versions(ctx context.Context, workspace, agentID string) ([]registry.Version, error)
	SetDeprecated(ctx context.Context, workspace, agentID, version string, deprecated bool, reason, successor string) error
}

// Pins tells who references an agent.
type Pins interface {
	Holding(ctx context.Context, workspace, agentID string) ([]registry.Pin, error)
}

// Resolver gives the version that a reference stands for, or what many are as far as they are named, and forgets what changed.
type Resolver interface {
	FindAll(ctx context.Context, workspace string, refs []registry.Reference) ([]references.Found, error)
	Resolve(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error)
	Forget(workspace string)
}

// Inspector parses code in the jail.
type Inspector interface {
	Check(ctx context.Context, req inspect.Request) (inspect.Report, error)
	Format(ctx context.Context, script string, indent int) (string, []fault.Detail, error)
	CheckAll(ctx context.Context, programs []inspect.Request) []inspect.Result
}

// Validator compiles schemas, or says what is wrong with one, and lists every violation of a document.
type Validator interface {
	Check(schema json.RawMessage) error
	Validate(schema, document json.RawMessage) ([]fault.Detail, error)
}

// Replays holds a draft to what its latest version has answered.
type Replays interface {
	Gate(ctx context.Context, actor registry.Actor, agent string, seen registry.Seen, count int) error
}

// Engines picks the runtime where a spec says auto, for a run, and for ever with the reason.
type Engines interface {
	Runtime(ctx context.Context, spec registry.Spec) (runtimes.Name, error)
	Choose(ctx context.Context, workspace, agentID string, spec registry.Spec) (runtimes.Name, *registry.RuntimeChoice, error)
}

// Quotas refuses what would be kept in a workspace that is full.
type Quotas interface {
	CheckAgentLimit(ctx context.Context, workspace string) error
}

// Options configures a Service.
type Options struct {
	Agents    Agents
	Histories Histories
	Quotas    Quotas // nil for none
	Versions  Versions
	Resolver  Resolver
	Pins      Pins
	Replays   Replays
	Inspector Inspector
	Validator Validator
	Specs     *specs.Checker
	Engines   Engines
	Now       func() time.Time
	NewID     func() string
}

// Service is safe for concurrent use.
type Service struct {
	Options

	editing     [64]sync.Mutex // by agent: one reads, changes and writes at a time
	deprecating sync.Mutex     // of all agents: a successor may be another agent's
}

// New returns the service.
func New(o Options) *Service { return &Service{Options: o} }

// edit reads an agent for a change. Nobody else on this server changes it until done is called, so that a rename between
// another's reading and writing is not undone.
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

// Input is what a client says of an agent and its draft. A nil field is not said: creating takes the default, saving
// keeps what is there. Code is shorthand for Files with the entry file alone.
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
	Rules            *runtimes.Rules           `json:"rules,omitempty"` // pack "none" takes rules away

	// Session is the browser session that saves, "" for other clients: its saves may share an entry of the history.
	Session string `json:"-"`
}

// Create makes an agent with its draft at revision 1.
func (s *Service) Create(ctx context.Context, actor registry.Actor, in Input) (registry.Agent, error) {
	a, err := s.Compose(ctx, actor, in)
	if err != nil {
		return registry.Agent{}, err
	}
	return a, s.Agents.CreateAgent(ctx, a)
}

// Compose is the agent that Create would store, for those who store more than an agent at once.
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

// checkAgentLimit is asked before something is kept.
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

// Save replaces what the input names in the draft. The revision must be the current one, else StaleDraft.
func (s *Service) Save(ctx context.Context, actor registry.Actor, ref string, revision int64, in Input) (registry.Agent, error) {
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
	return s.saveDraft(ctx, actor, a, revision)
}

// Patch changes what the input names among name, title, description, tags and metadata. The draft stays as it is.
func (s *Service) Patch(ctx context.Context, actor registry.Actor, ref string, in Input) (registry.Agent, error) {
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
	a.UpdatedAt, a.Editor = s.Now(), actor
	if err := s.Agents.PatchAgent(ctx, a); err != nil {
		return registry.Agent{}, err
	}
	s.Resolver.Forget(actor.Workspace)
	return a, nil
}

// Delete leaves a tombstone: the agent is gone from every list, and its name is not given away. While somebody pins a
// version it is Conflict with the list, unless forced; the versions are kept. The tombstone says who deleted and the comment.
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
		refused := fault.New(fault.Conflict, "%s is pinned by others: %s. Ask them to move first, or delete it with force.", a.Name, owners(pins))
		refused.Extra = map[string]any{"pins": pins}
		return refused
	}
	if err := s.Agents.DeleteAgent(ctx, actor.Workspace, a.ID, force, s.Now(), registry.Deletion{By: actor.Name, Comment: comment}); err != nil {
		return err
	}
	s.Resolver.Forget(actor.Workspace)
	return nil
}

// mostNamed bounds how many owners a sentence names.
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

// apply lays an input over an agent and checks the result.
func (s *Service) apply(ctx context.Context, actor registry.Actor, a registry.Agent, in Input) (registry.Agent, error) {
	a, err := s.describe(a, in)
	if err != nil {
		return a, err
	}
	if in.Code != nil && in.Files != nil {
		return a, fault.Invalid("/code", "must not be combined with files.")
	}
	if a.Draft.Spec, err = s.Specs.Complete(overlay(a.Draft.Spec.Current(), in)); err != nil {
		return a, err
	}
	if err := s.Specs.Grants(a.Workspace, a.Draft.Spec); err != nil {
		return a, err
	}
	return a, s.checkModule(ctx, actor, a.Draft.Spec, in)
}

// checkModule refuses a WebAssembly module that cannot be run: nobody could mend it in a draft, as one mends source.
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

// overlay lays the draft's fields of an input over a spec.
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

// describe lays the descriptive fields of an input over an agent and checks them.
func (s *Service) describe(a registry.Agent, in Input) (registry.Agent, error) {
	set(&a.Title, in.Title)
	set(&a.Description, in.Description)
	set(&a.Tags, in.Tags)
	if len(in.Metadata) > 0 {
		a.Metadata = in.Metadata
	}
	return a, registry.CheckAbout(a)
}
