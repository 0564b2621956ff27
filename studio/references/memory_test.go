package references_test

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/references"
)

// overtaken is a store in which something happens after the versions of an agent were read.
type overtaken struct {
	*store.Store
	meanwhile func()
}

func (o *overtaken) Candidates(ctx context.Context, workspace string, ref registry.Reference) (string, []registry.Version, error) {
	name, versions, err := o.Store.Candidates(ctx, workspace, ref)
	o.meanwhile()
	return name, versions, err
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
	for _, want := range []string{"1.0.0", "2.0.0"} { // the first was asked before the change
		v, err := r.Resolve(t.Context(), workspace, registry.Reference{Agent: a.ID, Version: "latest"})
		if err != nil || v.Version != want {
			t.Errorf("latest is %s, want %s, %v", v.Version, want, err)
		}
	}
}

// many is a store whose every version has large files.
type many struct{}

const large = 4 << 20

func (many) Candidates(_ context.Context, _ string, ref registry.Reference) (string, []registry.Version, error) {
	return "a", []registry.Version{{AgentID: "a", Version: ref.Version}}, nil
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
