package store_test

import (
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// TestListed checks that the registry lists the agents of all workspaces by name. It omits agents that are deleted, not
// listed, or have no version except pre-releases.
func TestListed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, name := range []string{"a", "b"} {
			if err := s.CreateWorkspace(t.Context(), registry.Workspace{ID: name, Name: "team-" + name, CreatedAt: start}, ""); err != nil {
				t.Fatal(err)
			}
		}
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
				if err := s.DeleteAgent(t.Context(), one.workspace, a.ID, false, start, registry.Deletion{}); err != nil {
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
				if a.Publisher != "team-"+a.Workspace {
					t.Errorf("%s is listed by %q", a.Name, a.Publisher)
				}
				if again, err := s.ListedAs(t.Context(), a.Publisher, a.Name); err != nil || again.ID != a.ID || again.Publisher != a.Publisher {
					t.Errorf("%+v %v", again, err)
				}
				if again, err := s.ListedAgent(t.Context(), a.ID); err != nil || again.Origin == nil || again.Origin.Name != a.Name {
					t.Errorf("%+v %v", again, err)
				}
			}
			if f.Cursor = page.NextCursor; f.Cursor == "" {
				break
			}
		}
		for _, one := range [][2]string{{"team-b", "hidden"}, {"team-b", "draft"}, {"team-a", "gone"}, {"team-b", "zulu"}, {"b", "alpha"}, {"team-c", "alpha"}} {
			_, err := s.ListedAs(t.Context(), one[0], one[1])
			expect(t, err, fault.NotFound)
		}
		if len(names) != 3 || names[2] != "a/zulu" {
			t.Error(names)
		}
	})
}

// TestTheRegistrySaysWhatTheLatestVersionSays checks that the registry shows and searches the latest version of an
// agent, and not its draft, which is private.
func TestTheRegistrySaysWhatTheLatestVersionSays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := agent("weather")
		a.Title, a.Description, a.Tags = "Weather", "Tells Äpfel", []string{"sky"}
		create(t, s, a)
		publish(t, s, a, "1.0.0")
		if err := s.SetListed(t.Context(), a.Workspace, a.ID, true, start); err != nil {
			t.Fatal(err)
		}
		a.Title, a.Description, a.Tags, a.Draft.Language = "Secret", "Unreleased", []string{"moon"}, "bash"
		saved, err := s.SaveDraft(t.Context(), a, a.Draft.Revision)
		if err != nil {
			t.Fatal(err)
		}
		found := func(f registry.AgentFilter) string {
			page, err := s.Listed(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Items) == 0 {
				return ""
			}
			one := page.Items[0]
			return one.Title + "/" + one.Description + "/" + string(one.Draft.Language) + "/" + one.LatestVersion
		}
		const first = "Weather/Tells Äpfel/typescript/1.0.0"
		for _, tt := range []struct {
			filter registry.AgentFilter
			want   string
		}{
			{registry.AgentFilter{}, first},
			{registry.AgentFilter{Query: "äpfel weather"}, first},
			{registry.AgentFilter{Query: "unreleased"}, ""},
			{registry.AgentFilter{Language: "typescript"}, first},
			{registry.AgentFilter{Language: "bash"}, ""},
			{registry.AgentFilter{Tag: "moon", Query: "moon"}, first}, // tags belong to the agent, not to a version
			{registry.AgentFilter{Tag: "sky"}, ""},
		} {
			if got := found(tt.filter); got != tt.want {
				t.Errorf("%+v: %q, not %q", tt.filter, got, tt.want)
			}
		}
		if page, err := s.ListAgents(t.Context(), a.Workspace, registry.AgentFilter{Language: "bash", Tag: "moon"}); err != nil || len(page.Items) != 1 || page.Items[0].Title != "Secret" {
			t.Errorf("%+v %v: its own workspace lists the draft", page, err)
		}
		saved.Name = "climate"
		if err := s.PatchAgent(t.Context(), saved, time.Time{}); err != nil {
			t.Fatal(err)
		}
		publish(t, s, saved, "1.1.0")
		for _, name := range []string{"climate", "weather"} { // like in a reference, a former name works too
			if one, err := s.ListedAs(t.Context(), "default", name); err != nil || one.Name != "climate" {
				t.Errorf("%s: %+v %v", name, one, err)
			}
		}
		if got := found(registry.AgentFilter{Query: "climate unreleased", Language: "bash"}); got != "Secret/Unreleased/bash/1.1.0" {
			t.Error(got)
		}
	})
}
