package agents_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/agents/agentstest"
)

// A draft is saved repeatedly while another client changes the description. Neither change may undo the other.
func TestSavingDoesNotUndoAPatch(t *testing.T) {
	t.Parallel()
	service := agents.New(agentstest.Options(storetest.Open(t, storetest.SQLite)))
	name, language, code := "weather", runtimes.Python, "def main(): pass\n"
	if _, err := service.Create(t.Context(), access.Administrator(), agents.Input{Name: &name, Language: &language, Code: &code}); err != nil {
		t.Fatal(err)
	}
	const rounds = 40
	saved := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		defer close(saved)
		for i := range rounds {
			text := fmt.Sprintf("def main(): return %d\n", i)
			if _, err := service.Save(t.Context(), access.Administrator(), name, registry.SeenRevision(int64(i)+1), agents.Input{Code: &text}); err != nil {
				t.Errorf("save %d: %v", i, err)
			}
		}
	})
	last := ""
	both.Go(func() { // This runs at the same time as the saves. Only this goroutine writes the description, so it must always read its own value.
		for i := 0; ; i++ {
			last = fmt.Sprintf("description %d", i)
			if _, err := service.Patch(t.Context(), access.Administrator(), name, agents.Input{Description: &last}); err != nil {
				t.Errorf("patch %d: %v", i, err)
			}
			if a, err := service.Get(t.Context(), access.Administrator(), name); err != nil || a.Description != last {
				t.Errorf("patch %d was undone: %q, %v", i, a.Description, err)
			}
			select {
			case <-saved:
				return
			default:
			}
		}
	})
	both.Wait()
	a, err := service.Get(t.Context(), access.Administrator(), name)
	if err != nil || a.Description != last || a.Draft.Revision != rounds+1 {
		t.Fatalf("description %q, revision %d, %v", a.Description, a.Draft.Revision, err)
	}
	if got := string(a.Draft.Files["main.py"]); got != fmt.Sprintf("def main(): return %d\n", rounds-1) {
		t.Fatalf("code %q", got)
	}
}
