// Package policy implements the policy gate, which judges a program before it runs. Parsers in the sandbox find facts
// about the program. Rules turn these facts into findings, each with a position and a remedy. A program that cannot be
// analysed is never approved. The gate does not replace the sandbox, which remains the security boundary.
package policy

import (
	"context"
	"embed"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/internal/lru"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/runtimes/python/rules"
)

//go:embed packs/*.yaml
var shipped embed.FS

// Names of the packs that are part of the server.
const (
	Standard   = "standard"
	Restricted = "restricted"
)

// Store stores the settings and rule packs of workspaces.
type Store interface {
	GateSettings(ctx context.Context, workspace string) (settings registry.GateSettings, found bool, err error)
	PutGateSettings(ctx context.Context, workspace string, settings registry.GateSettings) (revision int64, err error)
}

// Packs stores the rule packs of workspaces.
type Packs interface {
	RulePacks(ctx context.Context, workspace string) ([]registry.RulePack, error)
	PutRulePack(ctx context.Context, pack registry.RulePack) error
	DeleteRulePack(ctx context.Context, workspace, name string) error
}

// Inspector determines facts about programs by parsing them in the sandbox.
type Inspector interface {
	Facts(ctx context.Context, req inspect.Request) (inspect.Facts, error)
}

// Rules determines which rules apply to a program.
type Rules interface {
	// Restricted reports whether the pack restricted applies to a program.
	Restricted(workspace string, spec registry.Spec) bool
	// Rules returns the rules that restrict a program while it runs, or nil if there are none.
	Rules(workspace string, spec registry.Spec) *runtimes.Rules
}

// Options configures a Service.
type Options struct {
	Store     Store
	Packs     Packs
	Inspector Inspector
	Rules     Rules
	// ApproveEffects makes runs of versions with the flag side_effect wait for an approval, in every workspace.
	ApproveEffects bool
	Now            func() time.Time
}

// Service returns verdicts about programs. It is safe for concurrent use.
type Service struct {
	Options

	built map[string]Pack
	facts *lru.Cache[string, inspect.Facts]

	mu         sync.RWMutex
	workspaces map[string]*workspace
	forgotten  int // number of times that the cache was cleared or changed
}

// workspace is the cached gate of one workspace.
type workspace struct {
	settings registry.GateSettings
	packs    map[string]Pack

	mu       sync.RWMutex
	verdicts map[string]registry.Verdict // verdicts about the content of versions, by content digest
}

const (
	keptFacts    = 256
	factsMemory  = 32 << 20
	keptVerdicts = 4096
)

// New returns the service.
func New(o Options) (*Service, error) {
	s := &Service{
		Options: o, built: map[string]Pack{}, facts: lru.New[string, inspect.Facts](keptFacts, factsMemory), workspaces: map[string]*workspace{},
	}
	for _, name := range []string{Standard, Restricted} {
		text, err := shipped.ReadFile("packs/" + name + ".yaml")
		if err != nil {
			return nil, err
		}
		if s.built[name], err = Parse(text); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Defaults returns the settings of a workspace that has not changed them.
func Defaults() registry.GateSettings {
	return registry.GateSettings{
		Gate: registry.GateAdvise, Packs: []string{Standard}, DisabledRules: []string{}, BlockAt: registry.Critical, EscalateAt: registry.High,
		NewCapability: "escalate", SelfApproval: true, ApprovalHours: 72, ApproveEffects: true, Revision: 1,
	}
}

// of returns the gate of a workspace. It reads the gate from the database only the first time.
func (s *Service) of(ctx context.Context, id string) (*workspace, error) {
	s.mu.RLock()
	w, before := s.workspaces[id], s.forgotten
	s.mu.RUnlock()
	if w != nil {
		return w, nil
	}
	settings, found, err := s.Store.GateSettings(ctx, id)
	if err != nil {
		return nil, err
	}
	if !found {
		settings = Defaults()
	}
	w = &workspace{settings: settings, packs: map[string]Pack{}, verdicts: map[string]registry.Verdict{}}
	own, err := s.Packs.RulePacks(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, one := range own {
		if w.packs[one.Name], err = Parse([]byte(one.Source)); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgotten == before { // If the counter differs, the settings may have changed since they were read, so they are not cached.
		s.workspaces[id] = w
	}
	return w, nil
}

func (s *Service) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten++
	delete(s.workspaces, id)
}

// ForgetAll clears the cached settings and packs of all workspaces. It is called when another server has changed some
// of them.
func (s *Service) ForgetAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten++
	clear(s.workspaces)
}

// Settings returns the settings of a workspace.
func (s *Service) Settings(ctx context.Context, workspace string) (registry.GateSettings, error) {
	w, err := s.of(ctx, workspace)
	if err != nil {
		return registry.GateSettings{}, err
	}
	return w.settings, nil
}

// SetSettings changes the gate settings of a workspace. Every pack that the settings name must exist. Error: Conflict
// if the given revision is not the stored one.
func (s *Service) SetSettings(ctx context.Context, actor registry.Actor, settings registry.GateSettings) (registry.GateSettings, error) {
	w, err := s.of(ctx, actor.Workspace)
	if err != nil {
		return settings, err
	}
	if settings.Packs == nil {
		settings.Packs = []string{}
	}
	if settings.DisabledRules == nil {
		settings.DisabledRules = []string{}
	}
	for n, name := range settings.Packs {
		if _, ok := s.pack(w, name); !ok {
			return settings, fault.Invalid("/packs/"+number(n), "must be the name of a rule pack; this workspace has no such pack.")
		}
	}
	defer s.forget(actor.Workspace)
	settings.Revision, err = s.Store.PutGateSettings(ctx, actor.Workspace, settings)
	return settings, err
}

func (s *Service) pack(w *workspace, name string) (Pack, bool) {
	if p, ok := s.built[name]; ok {
		return p, true
	}
	p, ok := w.packs[name]
	return p, ok
}

// PackInfo is a rule pack with its rules.
type PackInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	BuiltIn bool   `json:"builtIn"`
	Active  bool   `json:"active" doc:"true if the pack applies to every program of the workspace."`
	Source  string `json:"source" doc:"YAML source of the pack."`
	Rules   []Rule `json:"rules"`
}

// List returns the rule packs that a workspace can use, built-in packs first.
func (s *Service) List(ctx context.Context, actor registry.Actor) ([]PackInfo, error) {
	w, err := s.of(ctx, actor.Workspace)
	if err != nil {
		return nil, err
	}
	var all []PackInfo
	for _, name := range []string{Standard, Restricted} {
		text, err := shipped.ReadFile("packs/" + name + ".yaml")
		if err != nil {
			return nil, err
		}
		p := s.built[name]
		all = append(all, PackInfo{p.Name, p.Title, true, slices.Contains(w.settings.Packs, name), string(text), p.Rules})
	}
	own, err := s.Packs.RulePacks(ctx, actor.Workspace)
	for _, one := range own {
		p := w.packs[one.Name]
		all = append(all, PackInfo{one.Name, p.Title, false, slices.Contains(w.settings.Packs, one.Name), one.Source, p.Rules})
	}
	return all, err
}

// maxPacks is the maximum number of packs of one workspace.
const maxPacks = 50

// PutPack stores a rule pack of a workspace. If the pack is invalid, the error has line and reason, and the stored pack
// stays unchanged.
func (s *Service) PutPack(ctx context.Context, actor registry.Actor, name, source string) (Pack, error) {
	pack, err := Parse([]byte(source))
	if err != nil {
		return pack, err
	}
	if pack.Name != name {
		return pack, fault.Invalid("/source", "must have the name %s, because the path names that pack.", name)
	}
	if _, ok := s.built[name]; ok {
		return pack, fault.New(fault.NameTaken, "%s is a built-in pack. Choose another name.", name)
	}
	own, err := s.Packs.RulePacks(ctx, actor.Workspace)
	if err != nil {
		return pack, err
	}
	if len(own) >= maxPacks && !slices.ContainsFunc(own, func(p registry.RulePack) bool { return p.Name == name }) {
		return pack, fault.New(fault.Conflict, "A workspace has at most %d rule packs. Delete one first.", maxPacks)
	}
	defer s.forget(actor.Workspace)
	return pack, s.Packs.PutRulePack(ctx, registry.RulePack{Workspace: actor.Workspace, Name: name, Source: source, UpdatedAt: s.Now(), UpdatedBy: actor.Name})
}

// DeletePack deletes a rule pack. It refuses to delete a pack that the settings use.
func (s *Service) DeletePack(ctx context.Context, actor registry.Actor, name string) error {
	settings, _, err := s.Store.GateSettings(ctx, actor.Workspace)
	if err != nil {
		return err
	}
	if slices.Contains(settings.Packs, name) {
		return fault.New(fault.Conflict, "The rule pack %s is in use. Remove it from the settings of the gate first.", name)
	}
	defer s.forget(actor.Workspace)
	return s.Packs.DeleteRulePack(ctx, actor.Workspace, name)
}

// rulesFor returns the rules that apply to a program: the packs of its workspace, and the pack "restricted" if the
// program must follow it.
func (s *Service) rulesFor(w *workspace, id string, spec registry.Spec) (ruleSet, error) {
	set := ruleSet{settings: w.settings}
	names := slices.Clone(w.settings.Packs)
	own := s.Rules.Rules(id, spec)
	if s.Rules.Restricted(id, spec) && !slices.Contains(names, Restricted) {
		names = append(names, Restricted)
	}
	for _, name := range names {
		p, ok := s.pack(w, name)
		if !ok {
			continue
		}
		set.names = append(set.names, name)
		for _, r := range p.Rules {
			if name == Restricted && r.ID == importRule {
				allowed := runtimes.Rules{Pack: runtimes.Restricted}
				if own != nil {
					allowed = *own
				}
				r.Match.Except = allowedImports(rules.Imports(allowed), spec)
			}
			if !slices.Contains(w.settings.DisabledRules, name+"/"+r.ID) {
				set.rules = append(set.rules, compiled(name, r))
			}
		}
	}
	listed := make([]Rule, 0, len(set.rules))
	for _, r := range set.rules {
		listed = append(listed, r.Rule)
	}
	raw, err := json.Marshal(map[string]any{"rules": listed, "blockAt": w.settings.BlockAt, "escalateAt": w.settings.EscalateAt, "newCapability": w.settings.NewCapability})
	if err != nil {
		return set, err
	}
	set.version, err = jcs.Digest(raw)
	return set, err
}
