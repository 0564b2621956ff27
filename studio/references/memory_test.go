package references_test

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/references"
)

// overtaken is a store that calls the function meanwhile after it has read the versions of an agent.
type overtaken struct {
	*store.Store
	meanwhile func()
}

func (o *overtaken) Candidates(ctx context.Context, workspace string, refs []registry.Reference) ([]registry.Candidates, error) {
	found, err := o.Store.Candidates(ctx, workspace, refs)
	o.meanwhile()
	return found, err
}

func TestAChangeDuringALookUpIsNotForgotten(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	a := newAgent(t, s)
	publish(t, s, a, "1.0.0")
	between := &overtaken{Store: s}
	r := references.New(between, func() time.Time { return time.Unix(0, 0) })
	between.meanwhile = func() {
		between.meanwhile = func() {}
		publish(t, s, a, "2.0.0")
		r.Forget(workspace)
	}
	for _, want := range []string{"1.0.0", "2.0.0"} { // The first version was read before the change.
		v, err := r.Resolve(t.Context(), workspace, registry.Reference{Agent: a.ID, Version: "latest"})
		if err != nil || v.Version != want {
			t.Errorf("latest is %s, want %s, %v", v.Version, want, err)
		}
	}
}

// many is a store in which every version has large files.
type many struct{}

const large = 4 << 20

func (many) Candidates(_ context.Context, _ string, refs []registry.Reference) ([]registry.Candidates, error) {
	return []registry.Candidates{{Agent: "a", Versions: []registry.Version{{AgentID: "a", Version: refs[0].Version}}}}, nil
}

func (many) Version(_ context.Context, _, _, version string) (registry.Version, error) {
	return registry.Version{Version: version, Spec: registry.Spec{Files: map[string]registry.File{"main.sh": make([]byte, large)}}}, nil
}

func TestLargeVersionsAreNotAllKept(t *testing.T) {
	r := references.New(many{}, func() time.Time { return time.Unix(0, 0) })
	for i := range 60 {
		if _, err := r.Resolve(t.Context(), workspace, registry.Reference{Agent: "a", Version: "1.0." + strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.HeapAlloc > 160<<20 {
		t.Errorf("%d MiB are kept", memory.HeapAlloc>>20)
	}
	runtime.KeepAlive(r)
}

func TestManyAreFoundWithOneLookUp(t *testing.T) {
	t.Parallel()
	s := &counting{Store: storetest.Open(t, storetest.SQLite)}
	a := newAgent(t, s.Store)
	publish(t, s.Store, a, "1.0.0")
	publish(t, s.Store, a, "2.0.0")
	refs := []registry.Reference{{Agent: a.ID, Version: "^1"}, {Agent: "nobody", Version: "1.0.0"}, {Agent: a.Name, Version: "9.0.0"}, {Agent: a.Name, Version: "latest"}, {Agent: a.Name}, {Agent: a.Name, Version: "draft"}}
	found, err := references.New(s, time.Now).FindAll(t.Context(), workspace, refs)
	if err != nil || s.lookedUp != 1 {
		t.Fatalf("%d look-ups, %v", s.lookedUp, err)
	}
	for i, want := range []struct {
		version, name string
		code          fault.Code
	}{{"1.0.0", a.Name, ""}, {"", "", fault.NotFound}, {"", a.Name, fault.NotFound}, {"2.0.0", a.Name, ""}, {"", "", fault.VersionRequired}, {"", "", fault.InvalidInput}} {
		if f := found[i]; f.Version.Version != want.version || f.CurrentName != want.name || (f.Err != nil || want.code != "") && fault.CodeOf(f.Err) != want.code {
			t.Errorf("%s is %+v", refs[i], f)
		}
	}
}
