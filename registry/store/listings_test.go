package store_test

import (
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// The registry is that of every workspace, by name; what is not listed, deleted or never released is not in it.
func TestListed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, one := range []struct {
			workspace, name string
			listed, release bool
		}{{"a", "zulu", true, true}, {"b", "alpha", true, true}, {"b", "hidden", false, true}, {"b", "draft", true, false}, {"a", "alpha", true, true}, {"a", "gone", true, true}} {
			a := agent(one.name)
			a.Workspace = one.workspace
			a.Origin = &registry.Origin{AgentID: "x", Name: one.name, Version: "1.0.0", Digest: "sha256:0"}
			create(t, s, a)
			if one.release {
				v := registry.Version{ID: newID(), AgentID: a.ID, Agent: a.Name, Version: "1.0.0", Digest: newID(), PublishedAt: start, Spec: spec()}
				if err := s.InsertVersion(t.Context(), one.workspace, v); err != nil {
					t.Fatal(err)
				}
			}
			if one.listed {
				if err := s.SetListed(t.Context(), one.workspace, a.ID, true, start); err != nil {
					t.Fatal(err)
				}
			}
			expect(t, s.SetListed(t.Context(), "other", a.ID, true, start), fault.NotFound)
			if one.name == "gone" {
				if err := s.DeleteAgent(t.Context(), one.workspace, a.ID, false, start); err != nil {
					t.Fatal(err)
				}
				_, err := s.ListedAgent(t.Context(), a.ID)
				expect(t, err, fault.NotFound)
			}
		}
		var names []string
		f := registry.AgentFilter{Limit: 1}
		for {
			page, err := s.Listed(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range page.Items {
				names = append(names, a.Workspace+"/"+a.Name)
				if again, err := s.ListedAgent(t.Context(), a.ID); err != nil || again.Origin == nil || again.Origin.Name != a.Name {
					t.Errorf("%+v %v", again, err)
				}
			}
			if f.Cursor = page.NextCursor; f.Cursor == "" {
				break
			}
		}
		if len(names) != 3 || names[2] != "a/zulu" {
			t.Error(names)
		}
	})
}
