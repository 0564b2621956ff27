// Package skills manages skills. A skill is an agent that is stored in a folder, is called by name, and is installed or
// uninstalled as a whole.
//
// The versions, drafts and runs of a skill are those of its agent. This package loads, watches and writes folders, and
// stores the skill data of agents. Packages agents and runs do the rest.
package skills

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/runs"
)

// Store stores the skill data of agents.
type Store interface {
	CreateSkill(ctx context.Context, a registry.Agent, skill registry.Skill) error
	PutSkill(ctx context.Context, skill registry.Skill) error
	Skill(ctx context.Context, workspace, nameOrID string) (registry.Skill, error)
	Lists
}

// Lists reads all skills with a fixed number of queries, however many there are.
type Lists interface {
	Skills(ctx context.Context, workspace string) ([]registry.Skill, error)
	LatestOfSkills(ctx context.Context, workspace string) (map[string]registry.Version, error)
}

// Fetcher downloads an archive from a host that the operator has granted.
type Fetcher interface {
	Fetch(ctx context.Context, address string) ([]byte, error)
}

// Catalog finds an agent of the public registry by NAME or PUBLISHER/NAME, and returns it with its latest version.
type Catalog interface {
	Named(ctx context.Context, name string) (registry.Agent, registry.Version, error)
}

// Options configures a Service.
type Options struct {
	Store   Store
	Agents  *agents.Service
	Runs    *runs.Service
	Fetcher Fetcher
	Catalog Catalog // nil if there is no public registry
	Dir     string  // directory of skills that is watched
	// Replicas is true if several servers use the database. Their skill directories may be separate or shared.
	Replicas bool
	Builtin  Builtin
	Log      *slog.Logger
	Now      func() time.Time
}

// Service manages skills. It is safe for concurrent use.
type Service struct {
	Options

	root   *os.Root
	loaded chan struct{} // closed when the directory has been loaded after the start of the server

	changing  sync.Mutex // serializes changes of the installed skills
	reporting sync.Mutex // serializes writes of the report

	mu       sync.RWMutex        // guards the following fields
	index    map[string]string   // IDs of agents by workspace and name
	problems map[string]*Trouble // problems by folder
	folders  map[string]bool     // names of the folders that exist
}

// Trouble is the problem of a folder. A skill that was installed from the folder before can still run.
type Trouble struct {
	Folder  string         `json:"folder"`
	Message string         `json:"message"`
	Details []fault.Detail `json:"details"`
	At      time.Time      `json:"at"`
}

// Entry is a skill in a list, or a folder from which no skill could be loaded.
type Entry struct {
	registry.Skill
	Version *registry.Version // latest version; in lists it has no files; nil if the skill has no version
	Problem *Trouble
	Missing bool // whether the skill's folder no longer exists
}

// New opens the directory and returns the service. The caller must call Watch to load the directory, and Close at the
// end.
func New(o Options) (*Service, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, err
	}
	return &Service{Options: o, root: root, loaded: make(chan struct{}), index: map[string]string{}, problems: map[string]*Trouble{}, folders: map[string]bool{}}, nil
}

// Close closes the directory.
func (s *Service) Close() error { return s.root.Close() }

// systemActor returns the actor in whose name folders are loaded.
func systemActor() registry.Actor {
	return registry.Actor{ID: "skills", Type: registry.SystemActor, Name: "skills directory", Workspace: registry.DefaultWorkspace}
}

// ready waits until the directory has been loaded after the start of the server, so that early clients find all skills.
func (s *Service) ready(ctx context.Context) error {
	select {
	case <-s.loaded:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// List returns the installed skills by name, and then the folders from which no skill could be loaded. It omits
// uninstalled skills.
func (s *Service) List(ctx context.Context, actor registry.Actor) ([]Entry, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	known, err := s.Store.Skills(ctx, actor.Workspace)
	if err != nil {
		return nil, err
	}
	latest, err := s.Store.LatestOfSkills(ctx, actor.Workspace)
	if err != nil {
		return nil, err
	}
	problems := s.problemsOf(actor)
	entries, listed := []Entry{}, map[string]bool{}
	for _, skill := range known {
		if skill.Uninstalled {
			listed[registry.NameKey(skill.Name)] = true // The problems of an uninstalled skill are not listed.
			continue
		}
		entry := s.entry(skill, problems)
		if v, ok := latest[skill.AgentID]; ok {
			v.CurrentName = skill.Name
			entry.Version = &v
		} else if err := s.addVersion(ctx, actor, &entry); fault.Is(err, fault.NotFound) {
			continue // The skill was deleted after the list was read.
		} else if err != nil {
			return nil, err
		}
		listed[registry.NameKey(skill.Name)] = true
		entries = append(entries, entry)
	}
	for _, key := range slices.Sorted(maps.Keys(problems)) {
		if problem := problems[key]; !listed[key] {
			entries = append(entries, Entry{Skill: registry.Skill{Name: base(problem.Folder), Origin: registry.FolderSkill, Tags: []string{}}, Problem: problem})
		}
	}
	return entries, nil
}

// entry returns the list entry of a skill without its version.
func (s *Service) entry(skill registry.Skill, problems map[string]*Trouble) Entry {
	entry := Entry{Skill: skill, Problem: problems[registry.NameKey(skill.Name)]}
	if skill.Origin == registry.FolderSkill {
		s.mu.RLock()
		entry.Missing = !s.folders[registry.NameKey(skill.Name)]
		s.mu.RUnlock()
	}
	return entry
}

// addVersion adds the latest version of a skill to the skill's entry. If the skill has no version, it does nothing.
func (s *Service) addVersion(ctx context.Context, actor registry.Actor, entry *Entry) error {
	if !entry.Published {
		return nil
	}
	v, err := s.Agents.Version(ctx, actor, entry.AgentID, registry.Latest)
	entry.Version = &v
	return err
}

// Find returns an installed skill by name, with its latest version. Error: NotFound.
func (s *Service) Find(ctx context.Context, actor registry.Actor, name string) (Entry, error) {
	if err := s.ready(ctx); err != nil {
		return Entry{}, err
	}
	skill, err := s.find(ctx, actor, name)
	if err != nil {
		return Entry{}, err
	}
	entry := s.entry(skill, s.problemsOf(actor))
	err = s.addVersion(ctx, actor, &entry)
	if fault.Is(err, fault.NotFound) {
		err = unknown(name)
	}
	return entry, err
}

func unknown(name string) error { return fault.New(fault.NotFound, "Skill not found: %s", shown(name)) }

// find returns a skill by a current or former name. An uninstalled skill counts as unknown.
func (s *Service) find(ctx context.Context, actor registry.Actor, name string) (registry.Skill, error) {
	skill, err := s.any(ctx, actor, name)
	if err == nil && skill.Uninstalled {
		err = unknown(name)
	}
	return skill, err
}

// any returns a skill by a current or former name, even if it is uninstalled.
func (s *Service) any(ctx context.Context, actor registry.Actor, name string) (registry.Skill, error) {
	skill, err := s.Store.Skill(ctx, actor.Workspace, name)
	if fault.Is(err, fault.NotFound) {
		err = unknown(name)
	}
	return skill, err
}

// Is reports whether an agent, given by name or ID, is a skill. If so, calls of its name run its versions.
func (s *Service) Is(ctx context.Context, actor registry.Actor, agent string) (bool, error) {
	_, err := s.any(ctx, actor, agent)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// Count returns the number of skills that can be called.
func (s *Service) Count(ctx context.Context, workspace string) (int, error) {
	known, err := s.Store.Skills(ctx, workspace)
	n := 0
	for _, skill := range known {
		if !skill.Uninstalled && skill.Published {
			n++
		}
	}
	return n, err
}

// problemsOf returns the problems of folders by the key of the skill's name. The problem of an active folder takes
// precedence over that of a draft.
func (s *Service) problemsOf(actor registry.Actor) map[string]*Trouble {
	problems := map[string]*Trouble{}
	for _, p := range s.allProblems(actor) {
		if key := registry.NameKey(base(p.Folder)); problems[key] == nil || path.Dir(p.Folder) == "." {
			problems[key] = p
		}
	}
	return problems
}

// allProblems returns the problems of all folders if the actor's workspace is the default one. The directory belongs to
// the default workspace, so other workspaces get none.
func (s *Service) allProblems(actor registry.Actor) []*Trouble {
	if actor.Workspace != registry.DefaultWorkspace {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return sortedProblems(s.problems)
}

// faultOf converts an error to a fault that may be stored and shown.
func faultOf(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) && f.Code != fault.Internal {
		return f
	}
	return fault.New(fault.Internal, "could not be loaded; see the server's log.")
}
