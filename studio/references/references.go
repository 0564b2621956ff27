// Package references resolves name@version to a version. Versions never change, so what a reference stands for is
// remembered briefly, and a change in this server is forgotten at once.
package references

import (
	"context"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Store is what references are resolved from.
type Store interface {
	Candidates(ctx context.Context, workspace string, refs []registry.Reference) ([]registry.Candidates, error)
	Version(ctx context.Context, workspace, agentID, version string) (registry.Version, error)
}

const (
	// freshFor bounds how long another server's change may go unseen; changes of this one are forgotten at once.
	freshFor = 2 * time.Second
	// most and mostBytes bound what is remembered: one version may be asked for in many spellings, and has its files each time.
	most      = 512
	mostBytes = 64 << 20
)

// Resolver is safe for concurrent use.
type Resolver struct {
	store Store
	now   func() time.Time

	mu        sync.Mutex
	known     map[key]entry
	bytes     int // of the files in known
	forgotten int // how often something was; what was looked up before is not remembered after
}

type key struct{ workspace, agent, version string }

type entry struct {
	version registry.Version
	until   time.Time
}

// New returns a resolver.
func New(store Store, now func() time.Time) *Resolver {
	return &Resolver{store: store, now: now, known: map[key]entry{}}
}

// Forget drops what is remembered of a workspace's references. Whoever changes an agent or a version calls it.
func (r *Resolver) Forget(workspace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgotten++
	for k, e := range r.known {
		if k.workspace == workspace {
			r.bytes -= size(e.version)
			delete(r.known, k)
		}
	}
}

// Resolve returns the version that a reference stands for. The agent is a name, also a former one, or an ID. Errors:
// VersionRequired without a version, InvalidInput for a malformed one, NotFound naming the reference.
func (r *Resolver) Resolve(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error) {
	if err := check(ref); err != nil {
		return registry.Version{}, err
	}
	k := key{workspace, ref.Agent, ref.Version}
	v, known, before := r.remembered(k)
	if known {
		return v, nil
	}
	found, err := r.Find(ctx, workspace, ref)
	if err != nil {
		return registry.Version{}, err
	}
	if v, err = r.store.Version(ctx, workspace, found.AgentID, found.Version); err != nil {
		return registry.Version{}, err
	}
	v.CurrentName = found.CurrentName
	r.remember(k, v, before)
	return v, nil
}

// Find tells what a reference stands for without reading the version: number, digest and what its deprecation says. Errors
// are those of Resolve.
func (r *Resolver) Find(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error) {
	all, err := r.FindAll(ctx, workspace, []registry.Reference{ref})
	if err != nil {
		return registry.Version{}, err
	}
	return all[0].Version, all[0].Err
}

// Found is what one of several references stands for. Err is one of Resolve's; CurrentName is the agent's, also if it has no
// such version, and "" if there is no such agent.
type Found struct {
	Version     registry.Version
	CurrentName string
	Err         error
}

// FindAll is Find for many references at once, with one look-up. Its error is the house's; what is wrong with one reference
// is told beside it.
func (r *Resolver) FindAll(ctx context.Context, workspace string, refs []registry.Reference) ([]Found, error) {
	all := make([]Found, len(refs))
	var asked []registry.Reference
	var places []int
	for i, ref := range refs {
		if all[i].Err = check(ref); all[i].Err == nil {
			asked, places = append(asked, ref), append(places, i)
		}
	}
	if len(asked) == 0 {
		return all, nil
	}
	candidates, err := r.store.Candidates(ctx, workspace, asked)
	if err != nil {
		return nil, err
	}
	for k, i := range places {
		all[i] = pick(refs[i], candidates[k])
	}
	return all, nil
}

func pick(ref registry.Reference, c registry.Candidates) Found {
	if c.Agent == "" {
		return Found{Err: fault.New(fault.NotFound, "Agent %s not found.", ref.Agent)}
	}
	at := registry.Pick(ref.Version, c.Versions)
	if at < 0 {
		return Found{CurrentName: c.Agent, Err: fault.New(fault.NotFound, "Version %s not found.", registry.Reference{Agent: c.Agent, Version: ref.Version})}
	}
	return Found{Version: c.Versions[at], CurrentName: c.Agent}
}

func check(ref registry.Reference) error {
	switch {
	case ref.Version == "":
		return &fault.Error{
			Code:    fault.VersionRequired,
			Message: "The version is required: 1.2.0, ^1, latest, sha256:… or draft.",
			Details: []fault.Detail{{Pointer: "/version", Message: "is required"}},
		}
	case registry.KindOf(ref.Version) == registry.ByDraft:
		return fault.Invalid("/version", "A draft is not a version. Publish it or name a version.")
	}
	return registry.CheckVersionRange(ref.Version)
}

// remembered also tells how often something was forgotten until now.
func (r *Resolver) remembered(k key) (v registry.Version, ok bool, forgotten int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.known[k]
	return e.version, ok && r.now().Before(e.until), r.forgotten
}

// remember keeps what was looked up, unless there was a change meanwhile that the look-up may not have seen.
func (r *Resolver) remember(k key, v registry.Version, before int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forgotten != before {
		return
	}
	if old, ok := r.known[k]; ok {
		r.bytes -= size(old.version)
	} else if len(r.known) >= most || r.bytes+size(v) > mostBytes {
		clear(r.known)
		r.bytes = 0
	}
	r.bytes += size(v)
	r.known[k] = entry{v, r.now().Add(freshFor)}
}

func size(v registry.Version) int {
	n := 0
	for _, file := range v.Files {
		n += len(file)
	}
	return n
}
