package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func TestSkillsAreKeptOncePerAgent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o store.Options) {
		s := storetest.Reopen(t, o)
		a := create(t, s, agent("weather"))
		skill := registry.Skill{AgentID: a.ID, Workspace: ws, Name: a.Name, Title: a.Title, Description: a.Description, Tags: a.Tags, Language: a.Draft.Language, Origin: registry.CreatedSkill, Handler: "handler.run", Drafted: true,
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

// TestSkillsAreFoundByEveryName checks that a skill is found by every current and former name of its agent, and that
// its latest version is found by the agent's ID.
func TestSkillsAreFoundByEveryName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o store.Options) {
		s := storetest.Reopen(t, o)
		skill := func(name string) registry.Agent {
			a := create(t, s, agent(name))
			if err := s.PutSkill(t.Context(), registry.Skill{AgentID: a.ID, Workspace: ws, Origin: registry.FolderSkill, InstalledAt: start, Installer: ada}); err != nil {
				t.Fatal(err)
			}
			return a
		}
		a, old, plain := skill("to-day"), skill("old"), create(t, s, agent("plain"))
		skill("empty")
		publish(t, s, a, "1.0.0")
		publish(t, s, a, "1.1.0")
		publish(t, s, old, "1.0.0")
		publish(t, s, plain, "1.0.0")
		if err := s.SetDeprecated(t.Context(), ws, old.ID, "1.0.0", true, "", ""); err != nil {
			t.Fatal(err)
		}
		renamed := a
		renamed.Name = "tomorrow"
		if err := s.PatchAgent(t.Context(), renamed, time.Time{}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"to-day", "to_day", "tomorrow", a.ID} {
			if got, err := s.Skill(t.Context(), ws, name); err != nil || got.AgentID != a.ID || got.Name != "tomorrow" || !got.Published {
				t.Errorf("%s is %+v, %v", name, got, err)
			}
		}
		for _, name := range []string{"plain", "nobody", "", "a\x00b", plain.ID} {
			_, err := s.Skill(t.Context(), ws, name)
			expect(t, err, fault.NotFound)
		}
		_, err := s.Skill(t.Context(), "other", "tomorrow")
		expect(t, err, fault.NotFound)
		latest, err := s.LatestOfSkills(t.Context(), ws)
		if err != nil || len(latest) != 1 || latest[a.ID].Version != "1.1.0" || latest[a.ID].Digest == "" || latest[a.ID].Language == "" {
			t.Errorf("the latest are %+v, %v", latest, err)
		}
		if err := s.DeleteAgent(t.Context(), ws, a.ID, true, start, registry.Deletion{}); err != nil {
			t.Fatal(err)
		}
		if latest, err = s.LatestOfSkills(t.Context(), ws); err != nil || len(latest) != 0 {
			t.Errorf("after the deletion of %s the latest are %+v, %v", a.ID, latest, err)
		}
		if got, err := s.Skill(t.Context(), ws, "to-day"); err != nil || !got.Uninstalled {
			t.Errorf("after the deletion the skill is %+v, %v", got, err)
		}
	})
}

// TestASkillIsCreatedWholeOrNotAtAll checks that no agent is created if its skill data cannot be stored. Such an agent
// would block the name of the skill.
func TestASkillIsCreatedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o store.Options) {
		s := storetest.Reopen(t, o)
		a := agent("weather")
		skill := registry.Skill{AgentID: a.ID, Workspace: ws, Origin: registry.CreatedSkill, Source: "a\x00b", InstalledAt: start, Installer: ada}
		expect(t, s.CreateSkill(t.Context(), a, skill), fault.InvalidInput)
		_, err := s.Agent(t.Context(), ws, "weather")
		expect(t, err, fault.NotFound)
		skill.Source = ""
		if err := s.CreateSkill(t.Context(), a, skill); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Skill(t.Context(), ws, "weather"); err != nil || got.AgentID != a.ID {
			t.Errorf("created is %+v, %v", got, err)
		}
	})
}
