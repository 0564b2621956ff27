package packages_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/packages"
)

// lists is a store that has a lock for every package list. It records the digests of the requested lists.
type lists struct {
	packages.Store
	asked []string
}

func (l *lists) PackageLock(_ context.Context, _, _, list string) (registry.PackageLock, bool, error) {
	l.asked = append(l.asked, list)
	return registry.PackageLock{UsedAt: time.Now()}, true, nil
}

// If two packages exchange their hashes, the list must count as different.
func TestLock_HashesOfOtherPackages_OtherList(t *testing.T) {
	t.Parallel()
	store := &lists{}
	s := packages.New(packages.Options{Store: store, Now: time.Now})
	one, two := " --hash=sha256:"+strings.Repeat("1", 64), " --hash=sha256:"+strings.Repeat("2", 64)
	for _, text := range []string{"a==1" + one + "\nb==1" + two, "a==1" + one + two + "\nb==1", "b==1" + two + "\na==1" + one, "a==1\nb==1"} {
		spec := registry.Spec{Language: runtimes.Python, Files: map[string]registry.File{"requirements.txt": []byte(text)}}
		if _, err := s.Lock(t.Context(), "default", "", spec, func(packages.Step) {}); err != nil {
			t.Fatal(err)
		}
	}
	if got := store.asked; got[0] == got[1] || got[0] != got[2] || got[0] == got[3] {
		t.Errorf("the lists are %v", got)
	}
}
