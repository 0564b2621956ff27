package infer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/router"
	"github.com/atelier-run/atelier/studio/infer"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/specs"
)

var errStore = errors.New("no locks")

// busy is a store of package locks. While packages are installed, it records how many runs the router has.
type busy struct {
	packages.Store
	router *router.Router
	active []int
}

func (b *busy) PackageLock(context.Context, string, string, string) (registry.PackageLock, bool, error) {
	b.active = append(b.active, b.router.Load().Running)
	return registry.PackageLock{}, false, errStore
}

// An installation may take minutes, so it must not use the slot of a run.
func TestInfer_Packages_NoTurn(t *testing.T) {
	t.Parallel()
	r := router.New(router.Options{Running: 1, Queue: 1})
	store := &busy{router: r}
	checker := specs.New(specs.NewValidator(schema.NewCache(16)), runtimes.DefaultLimits(), runtimes.DefaultCeilings())
	checker.OfferPackages(func(runtimes.Ecosystem) string { return "" })
	s := infer.New(infer.Options{
		Specs: checker, Router: r, NewID: func() string { return "id" },
		Packages: packages.New(packages.Options{Store: store, Now: time.Now}),
		Engines:  map[runtimes.Language]runtimes.Runtime{runtimes.Python: nil}, Lacks: func(runtimes.Language) string { return "" },
	})
	spec := registry.Spec{Language: runtimes.Python, Files: map[string]registry.File{"main.py": registry.File("def main(): pass")}, Entrypoint: "main.py", Packages: []string{"orders"}}
	if _, err := s.Infer(t.Context(), registry.Actor{ID: "ada", Workspace: "default"}, spec); !errors.Is(err, errStore) {
		t.Fatal(err)
	}
	if len(store.active) != 1 || store.active[0] != 0 {
		t.Errorf("active runs: %v", store.active)
	}
}
