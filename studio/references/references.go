// Package references resolves name@version to a version. Results are cached for a short time. A change on this server
// clears the cache immediately.
package references

import (
	"context"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Store reads the data that is needed to resolve references.
type Store interface {
	Candidates(ctx context.Context, workspace string, refs []registry.Reference) ([]registry.Candidates, error)
	Version(ctx context.Context, workspace, agentID, version string) (registry.Version, error)
}

const (
	// freshFor is the maximum time until this server uses a change that another server made. A change on this server takes
	// effect immediately.
	freshFor = 2 * time.Second
	// most and mostBytes limit the cache. The size is limited too, because many references may select the same version,
	// and each entry contains the version's files.
	most      = 512
	mostBytes = 64 << 20
)

// Resolver resolves references. It is safe for concurrent use.
type Resolver struct {
	store Store
	now   func() time.Time

	mu        sync.Mutex
	known     map[key]entry
	bytes     int // total size of the cached files in bytes
	forgotten int // number of times that the cache was cleared; the result of a lookup that started before the last time is not cached
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

// Forget clears the cached references of a workspace. Every change of an agent or a version must call it.
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

// ForgetAll clears all cached references.
func (r *Resolver) ForgetAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgotten++
	clear(r.known)
	r.bytes = 0
}

// Resolve returns the version that a reference selects. The agent is an ID, a current name or a former name. Errors:
// VersionRequired without a version; InvalidInput for an invalid version; NotFound with the reference.
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

// Find resolves a reference without reading the whole version. It returns only the version's number, digest and
// deprecation. Errors: those of Resolve.
func (r *Resolver) Find(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error) {
	all, err := r.FindAll(ctx, workspace, []registry.Reference{ref})
	if err != nil {
		return registry.Version{}, err
	}
	return all[0].Version, all[0].Err
}

// Found is the result for one of several references. Err is an error of Resolve. CurrentName is the agent's current
// name, even if no version matches, or "" if the agent does not exist.
type Found struct {
	Version     registry.Version
	CurrentName string
	Err         error
}

// FindAll does the same as Find for many references with one lookup. The result of each reference contains its error;
// FindAll itself returns only internal errors.
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
		return fault.Invalid("/version", "must be a version, not the draft. Publish the draft or name a version.")
	}
	return registry.CheckVersionRange(ref.Version)
}

// remembered returns a cached version, and the number of times that the cache has been cleared.
func (r *Resolver) remembered(k key) (v registry.Version, ok bool, forgotten int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.known[k]
	return e.version, ok && r.now().Before(e.until), r.forgotten
}

// remember caches a result. If the cache was cleared during the lookup, the result is not cached, because the lookup
// may have missed a change.
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
