package store_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
)

const ws = "default"

var (
	start = time.Date(2026, 11, 21, 10, 0, 0, 123456000, time.UTC)
	ada   = registry.Actor{ID: "u1", Type: registry.UserActor, Name: "Ada", Workspace: ws}
	robot = registry.Actor{ID: "t1", Type: registry.TokenActor, Name: "robot", Workspace: ws}
)

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// agent returns an agent whose fields have values that a wrong conversion or a missing escape would change.
func agent(name string) registry.Agent {
	return registry.Agent{
		ID: newID(), Workspace: ws, Name: name, Title: "Weather 'now' \\ ☂", Description: "What? {0} ?1 $1 %s\nsecond line",
		Tags: []string{"weather", "it's"}, Metadata: json.RawMessage(`{"z":1,"a":{"big":12345678901234567890,"nul":"\u0000"}}`),
		Draft:     registry.FirstDraft(spec(), ada, start),
		CreatedAt: start, CreatedBy: ada.ID, Creator: ada, UpdatedAt: start, Editor: ada,
	}
}

func spec() registry.Spec {
	return registry.Spec{
		Language: runtimes.TypeScript, Runtime: runtimes.Auto, Entrypoint: "main.ts",
		Files: map[string]registry.File{
			"main.ts":     registry.File("export default () => '<b>&\u0000'"),
			"lib/data.nb": {0xff, 0x00, 0xfe},
		},
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"zebra":{"const":1.0},"apple":{"pattern":"<&>"}}}`),
		Environment:  map[string]string{"UNITS": "metric"},
		Secrets:      []string{"KEY"},
		Capabilities: runtimes.Capabilities{Hosts: []string{"example.com:443"}},
		Limits:       runtimes.DefaultLimits(),
	}
}

func create(t *testing.T, s *store.Store, a registry.Agent) registry.Agent {
	t.Helper()
	if err := s.CreateAgent(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a
}

func expect(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// same compares two records. It ignores the server of a run, which the store sets and other tests check.
func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(registry.Run{}, "Server")); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestAgentComesBackAsItWas(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		want := create(t, s, agent("weather-today"))
		want.Changelog = []registry.ChangelogEntry{}
		for _, name := range []string{want.ID, "weather-today", "weather_today"} {
			got, err := s.Agent(t.Context(), ws, name)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		}
	})
}

func TestAgentsOfOtherWorkspacesAreNotThere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		for _, name := range []string{a.ID, "weather"} {
			_, err := s.Agent(t.Context(), "other", name)
			expect(t, err, fault.NotFound)
			if !strings.Contains(err.Error(), "Agent "+name+" not found.") {
				t.Errorf("the message does not name the requested agent: %v", err)
			}
		}
		other := a
		other.Workspace = "other"
		_, err := s.SaveDraft(t.Context(), other, 1)
		expect(t, err, fault.NotFound)
		expect(t, s.PatchAgent(t.Context(), other, time.Time{}), fault.NotFound)
		expect(t, s.DeleteAgent(t.Context(), "other", a.ID, false, start, registry.Deletion{}), fault.NotFound)
		other.ID = newID()
		create(t, s, other) // the same name is free in another workspace
	})
}

// TestPatchAgent_ChangedSinceItWasRead_Conflict checks that two servers that read the same agent do not overwrite each
// other's changes.
func TestPatchAgent_ChangedSinceItWasRead_Conflict(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		first, second := a, a
		first.Title, first.UpdatedAt = "First", a.UpdatedAt.Add(time.Second)
		second.Title, second.UpdatedAt = "Second", a.UpdatedAt.Add(2*time.Second)
		if err := s.PatchAgent(t.Context(), first, a.UpdatedAt); err != nil {
			t.Fatal(err)
		}
		expect(t, s.PatchAgent(t.Context(), second, a.UpdatedAt), fault.Conflict)
		if got, err := s.Agent(t.Context(), ws, a.ID); err != nil || got.Title != "First" {
			t.Errorf("after a refused change the title is %s, %v", got.Title, err)
		}
		if err := s.PatchAgent(t.Context(), second, first.UpdatedAt); err != nil {
			t.Error(err)
		}
	})
}

func TestNamesAreUniqueAfterDashesBecameUnderscores(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		create(t, s, agent("my-agent"))
		for _, name := range []string{"my-agent", "my_agent"} {
			expect(t, s.CreateAgent(t.Context(), agent(name)), fault.NameTaken)
		}
		other := create(t, s, agent("other"))
		other.Name = "my_agent"
		expect(t, s.PatchAgent(t.Context(), other, time.Time{}), fault.NameTaken)
		if got, err := s.Agent(t.Context(), ws, other.ID); err != nil || got.Name != "other" {
			t.Errorf("a refused change was written: %s, %v", got.Name, err)
		}
	})
}

func TestDeletedAgentKeepsItsName(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		v := publish(t, s, a, "1.0.0")
		if err := s.DeleteAgent(t.Context(), ws, a.ID, false, start, registry.Deletion{}); err != nil {
			t.Fatal(err)
		}
		_, err := s.Agent(t.Context(), ws, "weather")
		expect(t, err, fault.NotFound)
		_, err = s.Version(t.Context(), ws, a.ID, "1.0.0")
		expect(t, err, fault.NotFound)
		if name, found := candidates(t, s, a.ID, v.Digest); name != "" || len(found) > 0 {
			t.Errorf("a deleted agent is found as %q, %v", name, found)
		}
		expect(t, s.DeleteAgent(t.Context(), ws, a.ID, false, start, registry.Deletion{}), fault.NotFound)
		expect(t, s.CreateAgent(t.Context(), agent("weather")), fault.NameTaken)
		_, err = s.SaveDraft(t.Context(), a, 1)
		expect(t, err, fault.NotFound)
		expect(t, s.InsertVersion(t.Context(), ws, version(a, "2.0.0")), fault.NotFound)
		page, err := s.ListAgents(t.Context(), ws, registry.AgentFilter{})
		if err != nil || len(page.Items) != 0 {
			t.Errorf("a deleted agent is listed: %v, %v", page, err)
		}
	})
}

func TestRenamedAgentKeepsFormerNamesOnceItWasPublished(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		rename := func(a registry.Agent, name string) registry.Agent {
			t.Helper()
			a.Name, a.Editor = name, robot
			if err := s.PatchAgent(t.Context(), a, time.Time{}); err != nil {
				t.Fatal(err)
			}
			return a
		}
		a := rename(create(t, s, agent("first")), "second")
		create(t, s, agent("first")) // never published, so the name is free again
		publish(t, s, a, "1.0.0")
		a = rename(a, "third")
		got, err := s.Agent(t.Context(), ws, "second")
		if err != nil || got.ID != a.ID || got.Name != "third" || got.Editor != robot || got.Creator != ada {
			t.Errorf("the former name leads to %+v, %v", got, err)
		}
		expect(t, s.CreateAgent(t.Context(), agent("second")), fault.NameTaken)
		rename(a, "second")
	})
}

func TestSaveDraftNeedsTheCurrentRevision(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		a.Title, a.Tags, a.Metadata, a.Editor, a.UpdatedAt = "New", nil, nil, robot, start.Add(time.Hour)
		a.Draft.Files = map[string]registry.File{"main.py": registry.File("x")}
		a.Draft.Language, a.Draft.InputSchema = runtimes.Python, nil
		saved, err := s.SaveDraft(t.Context(), a, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := a
		want.Draft.Revision, want.Tags, want.Changelog = 2, []string{}, []registry.ChangelogEntry{}
		want.Draft.SavedAt, want.Draft.SavedBy = a.UpdatedAt, registry.EditorOf(robot)
		same(t, saved, want)
		read, err := s.Agent(t.Context(), ws, a.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, read, want)

		a.Title = "Stale"
		_, err = s.SaveDraft(t.Context(), a, 1)
		expect(t, err, fault.StaleDraft)
		if stale := new(fault.Error); !asFault(err, &stale) || stale.Extra["currentRevision"] != int64(2) {
			t.Errorf("no current revision in %+v", err)
		}
		if read, err := s.Agent(t.Context(), ws, a.ID); err != nil || read.Title != "New" {
			t.Errorf("a refused save was written: %q, %v", read.Title, err)
		}
	})
}

func TestOneOfManySaversWins(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		const rounds, savers = 5, 20
		for revision := int64(1); revision <= rounds; revision++ {
			var won, stale atomic.Int64
			var group sync.WaitGroup
			for i := range savers {
				group.Go(func() {
					mine := a
					mine.Title = fmt.Sprint("saver ", i)
					saved, err := s.SaveDraft(t.Context(), mine, revision)
					switch {
					case err == nil && saved.Draft.Revision == revision+1 && saved.Title == mine.Title:
						won.Add(1)
					case fault.Is(err, fault.StaleDraft):
						stale.Add(1)
					default:
						t.Errorf("revision %d: %+v, %v", revision, saved.Draft.Revision, err)
					}
				})
			}
			group.Wait()
			if won.Load() != 1 || stale.Load() != savers-1 {
				t.Errorf("revision %d: %d won, %d were stale", revision, won.Load(), stale.Load())
			}
		}
	})
}

func TestTextThatCannotBeStoredIsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for pointer, change := range map[string]func(*registry.Agent){
			"/title":       func(a *registry.Agent) { a.Title = "a\x00b" },
			"/description": func(a *registry.Agent) { a.Description = "\xff" },
			"/tags":        func(a *registry.Agent) { a.Tags = []string{"\x00"} },
		} {
			a := agent("weather")
			change(&a)
			err := s.CreateAgent(t.Context(), a)
			expect(t, err, fault.InvalidInput)
			if invalid := new(fault.Error); !asFault(err, &invalid) || len(invalid.Details) != 1 || invalid.Details[0].Pointer != pointer {
				t.Errorf("%s: %+v", pointer, err)
			}
		}
	})
}

func TestListAgentsNarrows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for i, name := range []string{"alpha", "beta", "gamma_1", "delta"} {
			a := agent(name)
			a.Title, a.Description, a.Tags = []string{"Ärger im Büro", "100% sure", "x", "y"}[i], "", []string{"tag" + fmt.Sprint(i%2), "It's"}
			if i == 1 {
				a.Draft.Language = runtimes.Python
			}
			create(t, s, a)
			if i == 2 {
				publish(t, s, a, "1.0.0-rc.1")
			}
		}
		tests := map[string]struct {
			filter registry.AgentFilter
			want   []string
		}{
			"all, by name":              {registry.AgentFilter{}, []string{"alpha", "beta", "delta", "gamma_1"}},
			"language":                  {registry.AgentFilter{Language: runtimes.Python}, []string{"beta"}},
			"tag":                       {registry.AgentFilter{Tag: "tag0"}, []string{"alpha", "gamma_1"}},
			"quote in tag":              {registry.AgentFilter{Tag: "It's", Limit: 1, State: "published"}, []string{"gamma_1"}},
			"part of a tag":             {registry.AgentFilter{Tag: "tag"}, nil},
			"draft":                     {registry.AgentFilter{State: "draft"}, []string{"alpha", "beta", "delta"}},
			"any case":                  {registry.AgentFilter{Query: "ÄRGER büro"}, []string{"alpha"}},
			"every word":                {registry.AgentFilter{Query: "ärger sure"}, nil},
			"percent is no wildcard":    {registry.AgentFilter{Query: "0%"}, []string{"beta"}},
			"underscore is no wildcard": {registry.AgentFilter{Query: "a_"}, []string{"gamma_1"}},
			"backslash":                 {registry.AgentFilter{Query: `\`}, nil},
			"in tags":                   {registry.AgentFilter{Query: "tag1"}, []string{"beta", "delta"}},
		}
		counts, err := s.CountTags(t.Context(), ws)
		if want := []registry.TagCount{{Tag: "It's", Count: 4}, {Tag: "tag0", Count: 2}, {Tag: "tag1", Count: 2}}; err != nil || !slices.Equal(counts, want) {
			t.Errorf("the tags are %v, %v, want %v", counts, err, want)
		}
		for name, tt := range tests {
			page, err := s.ListAgents(t.Context(), ws, tt.filter)
			if err != nil {
				t.Fatal(name, err)
			}
			var got []string
			for _, a := range page.Items {
				got = append(got, a.Name)
				if a.Draft.Files != nil || a.Draft.Language == "" {
					t.Errorf("%s: %s has files or no language", name, a.Name)
				}
			}
			if !cmp.Equal(got, tt.want) {
				t.Errorf("%s: got %v, want %v", name, got, tt.want)
			}
		}
	})
}

func TestListAgentsPages(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for i := range 7 {
			create(t, s, agent(fmt.Sprintf("agent-%d", i)))
		}
		var got []string
		filter := registry.AgentFilter{Limit: 3}
		for pages := 1; ; pages++ {
			page, err := s.ListAgents(t.Context(), ws, filter)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range page.Items {
				got = append(got, a.Name)
			}
			if pages == 1 {
				create(t, s, agent("agent-00-comes-late")) // before the cursor: does not move the page
			}
			if filter.Cursor = page.NextCursor; filter.Cursor == "" {
				break
			}
		}
		same(t, got, []string{"agent-0", "agent-1", "agent-2", "agent-3", "agent-4", "agent-5", "agent-6"})
	})
}

func TestBadCursorsAreRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, cursor := range []string{
			"x", "!!", "e30x", "IjEi", "bnVsbA=", "' OR 1=1", base64.RawURLEncoding.EncodeToString([]byte(`{"i":"\u0000","t":"2026-01-01T00:00:00Z"}`)),
		} {
			_, agents := s.ListAgents(t.Context(), ws, registry.AgentFilter{Cursor: cursor})
			expect(t, agents, fault.InvalidInput)
			_, runs := s.ListRuns(t.Context(), ws, registry.RunFilter{Cursor: cursor})
			expect(t, runs, fault.InvalidInput)
			if invalid := new(fault.Error); !asFault(runs, &invalid) || invalid.Details[0].Pointer != "/cursor" {
				t.Errorf("%q: %+v", cursor, runs)
			}
		}
	})
}

func TestWhatCannotBeInARowIsNotThere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		for _, odd := range []string{"a\x00b", "\xff", "'; DROP TABLE agents; --", "?", "?0", "$1", "{}", `\`, strings.Repeat("x", 1<<16)} {
			_, err := s.Agent(t.Context(), ws, odd)
			expect(t, err, fault.NotFound)
			_, err = s.Version(t.Context(), ws, a.ID, odd)
			expect(t, err, fault.NotFound)
			_, err = s.Run(t.Context(), ws, odd)
			expect(t, err, fault.NotFound)
			expect(t, s.SetDeprecated(t.Context(), ws, a.ID, odd, true, "", ""), fault.NotFound)
			expect(t, s.RevokeToken(t.Context(), ws, odd, start), fault.NotFound)
			runs, err := s.ListRuns(t.Context(), ws, registry.RunFilter{Agent: odd, Version: odd, Status: registry.Status(odd)})
			if err != nil || len(runs.Items) != 0 {
				t.Errorf("%q: %v, %v", odd, runs, err)
			}
			found, err := s.Events(t.Context(), ws, odd, 0, 0)
			if err != nil || len(found) != 0 {
				t.Errorf("%q: %v, %v", odd, found, err)
			}
		}
	})
}
