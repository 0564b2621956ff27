package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func TestSkillsAreKeptOncePerAgent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o store.Options) {
		s := storetest.Reopen(t, o)
		a := create(t, s, agent("weather"))
		skill := registry.Skill{AgentID: a.ID, Workspace: ws, Name: "weather", Origin: registry.CreatedSkill, Handler: "handler.run", Drafted: true,
			Claims: json.RawMessage(`{"score": 1}`), InstalledAt: start, Installer: ada}
		for range 2 {
			if err := s.PutSkill(t.Context(), skill); err != nil {
				t.Fatal(err)
			}
			skill.Drafted, skill.InstalledAt = false, start.Add(time.Hour)
		}
		got, err := s.Skills(t.Context(), ws)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]registry.Skill{skill}, got); diff != "" {
			t.Error(diff)
		}
		if err := s.DeleteAgent(t.Context(), ws, a.ID, false, start, registry.Deletion{}); err != nil {
			t.Fatal(err)
		}
		if got, err = s.Skills(t.Context(), ws); err != nil || len(got) != 1 || !got[0].Uninstalled {
			t.Errorf("after the deletion %+v, %v", got, err)
		}
		if got, err = s.Skills(t.Context(), "other"); err != nil || len(got) != 0 {
			t.Errorf("another workspace sees %+v, %v", got, err)
		}
	})
}
