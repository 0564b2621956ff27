package store_test

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// TestNothingIsReadWhole checks the query plans of frequent queries on both databases. It fails if a plan scans every
// row of a table, which is fast in tests and slow after a year.
func TestNothingIsReadWhole(t *testing.T) {
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, d)
			a := create(t, s, agent("weather"))
			for name, ask := range hotQuestions(t, a, publish(t, s, a, "1.0.0")) {
				queries := s.Asked(func(s *store.Store) {
					if err := ask(s); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
				if len(queries) == 0 {
					t.Errorf("%s: asks nothing", name)
				}
				for _, query := range queries {
					plan, err := s.Plan(t.Context(), query)
					if err != nil {
						t.Fatal(name, err)
					}
					for _, step := range plan {
						if d == storetest.SQLite && filtersAgents[name] && ofAgents.MatchString(step) {
							continue
						}
						if readsWhole(d, step) || !strings.HasPrefix(name, "agents") && walksAgents.MatchString(step) {
							t.Errorf("%s: %s\n%s\n%s", name, step, query, strings.Join(plan, "\n"))
						}
					}
				}
			}
		})
	}
}

// filtersAgents are the views of the Home page whose queries read the agents of a workspace one by one, until a page is
// full, because they filter by columns that no index has.
var filtersAgents = map[string]bool{"agents mine": true, "agents changed": true}

func hotQuestions(t *testing.T, a registry.Agent, v registry.Version) map[string]func(s *store.Store) error {
	t.Helper()
	ctx, w := t.Context(), a.Workspace
	agents := func(f registry.AgentFilter) func(s *store.Store) error {
		return func(s *store.Store) error { _, err := s.ListAgents(ctx, w, f); return err }
	}
	listed := func(f registry.AgentFilter) func(s *store.Store) error {
		return func(s *store.Store) error { _, err := s.Listed(ctx, f); return err }
	}
	runs := func(f registry.RunFilter) func(s *store.Store) error {
		return func(s *store.Store) error { _, err := s.ListRuns(ctx, w, f); return err }
	}
	candidates := func(versions ...string) func(s *store.Store) error {
		var refs []registry.Reference
		for _, version := range versions {
			refs = append(refs, registry.Reference{Agent: a.Name, Version: version}, registry.Reference{Agent: "nobody", Version: version})
		}
		return func(s *store.Store) error { _, err := s.Candidates(ctx, w, refs); return err }
	}
	ago := time.Now().Add(-time.Hour)
	position := func(list, key string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(`{"list":"` + list + `","key":` + key + `}`))
	}
	const byName, byTime = `{"n":"a","i":"b"}`, `{"t":"2026-01-01T00:00:00Z","i":"a"}`
	agentCursor, runCursor := position("agents", byName), position("runs", byTime)
	return map[string]func(s *store.Store) error{
		"blobs of versions": func(s *store.Store) error {
			_, err := s.UnusedBlobs(ctx, []blobs.Stored{{Digest: "sha256:0"}, {Digest: "sha256:1"}})
			return err
		},
		"old contents": func(s *store.Store) error { _, err := s.OldContents(ctx, w, "a", ago, 10); return err },
		"agents":       agents(registry.AgentFilter{}), "agents after": agents(registry.AgentFilter{Cursor: agentCursor}),
		"agents searched": agents(registry.AgentFilter{Query: "rare word"}), "agents narrowed": agents(registry.AgentFilter{Language: "bash", Tag: "x", State: "draft"}),
		"agents by update": agents(registry.AgentFilter{Order: "updated", Query: "rare", Cursor: position("agents by update", byTime)}),
		"agents deleted":   agents(registry.AgentFilter{State: "deleted"}),
		"agents unused":    agents(registry.AgentFilter{UnusedSince: ago}),
		"agents mine":      agents(registry.AgentFilter{View: registry.MineView, Viewer: "me"}),
		"agents changed":   agents(registry.AgentFilter{View: registry.ChangedView}),
		"agents failing":   agents(registry.AgentFilter{View: registry.FailingView}),
		"registry":         listed(registry.AgentFilter{}), "registry searched": listed(registry.AgentFilter{Query: "rare", Language: "bash", Tag: "x", Cursor: position("registry", byName)}),
		"listed by name": func(s *store.Store) error {
			_, err := s.ListedAs(ctx, w, a.Name)
			expect(t, err, fault.NotFound)
			return nil
		},
		"listed agent": func(s *store.Store) error {
			_, err := s.ListedAgent(ctx, a.ID)
			expect(t, err, fault.NotFound)
			return nil
		},
		"agent":    func(s *store.Store) error { _, err := s.Agent(ctx, w, a.Name); return err },
		"versions": func(s *store.Store) error { _, err := s.Versions(ctx, w, a.ID); return err },
		"latest":   candidates("latest"), "exact": candidates("1.0.0", "1.1.0"), "digest": candidates(v.Digest, "sha256:0"),
		"skill": func(s *store.Store) error {
			_, err := s.Skill(ctx, w, a.Name)
			expect(t, err, fault.NotFound)
			return nil
		},
		"skills":           func(s *store.Store) error { _, err := s.Skills(ctx, w); return err },
		"latest of skills": func(s *store.Store) error { _, err := s.LatestOfSkills(ctx, w); return err },
		"numbers":          func(s *store.Store) error { _, err := s.Numbers(ctx, w, a.ID); return err },
		"version":          func(s *store.Store) error { _, err := s.Version(ctx, w, a.ID, v.Version); return err },
		"pins of":          func(s *store.Store) error { _, err := s.PinsOf(ctx, w, a.ID); return err },
		"pins by":          func(s *store.Store) error { _, err := s.PinsBy(ctx, w, "o"); return err },
		"events":           func(s *store.Store) error { _, err := s.Events(ctx, w, "r", 5, 100); return err },
		"runs":             runs(registry.RunFilter{}), "runs after": runs(registry.RunFilter{Cursor: runCursor}), "runs since": runs(registry.RunFilter{Since: ago}),
		"runs of status": runs(registry.RunFilter{Status: registry.Blocked}), "runs of version alone": runs(registry.RunFilter{Version: "1.0.0"}),
		"runs of agent": runs(registry.RunFilter{Agent: a.Name}), "runs of agent and status": runs(registry.RunFilter{Agent: a.Name, Status: registry.Failed, Cursor: runCursor}),
		"runs of version":            runs(registry.RunFilter{Agent: a.Name, Version: "1.0.0", Since: ago}),
		"runs of version and status": runs(registry.RunFilter{Agent: a.Name, Version: "1.0.0", Status: registry.Failed}),
		"requests without a run":     func(s *store.Store) error { _, err := s.WithdrawOrphans(ctx, ago); return err },
		"due approvals":              func(s *store.Store) error { _, _, err := s.DueApprovals(ctx, ago, ""); return err },
		"due deliveries":             func(s *store.Store) error { _, err := s.DueDeliveries(ctx, ago, 20); return err },
		"deliveries":                 func(s *store.Store) error { _, err := s.ListDeliveries(ctx, w, registry.DeliveryFilter{}); return err },
		"deliveries of approval": func(s *store.Store) error {
			_, err := s.ListDeliveries(ctx, w, registry.DeliveryFilter{ApprovalID: "a", State: registry.DeliveryFailed})
			return err
		},
		"old approvals":  func(s *store.Store) error { _, err := s.SweepApprovals(ctx, ago, 10); return err },
		"old deliveries": func(s *store.Store) error { _, err := s.SweepDeliveries(ctx, ago, 10); return err },
		"usage":          func(s *store.Store) error { _, err := s.Usage(ctx, w, "2026-01", "2026-12"); return err },
		"interrupt":      func(s *store.Store) error { _, err := s.InterruptRuns(ctx, ago); return err },
	}
}

var (
	// A materialized subquery has as many rows as the page. The index of the registry contains exactly the registry, in
	// its order.
	ofSubquery = regexp.MustCompile(`^SCAN (merged|of_\d+|json_each|asked|a USING COVERING INDEX agents_listed$)`)
	// Runs must be found by ID, or in a range of one state.
	ofRuns   = regexp.MustCompile(`^SEARCH r `)
	narrowly = regexp.MustCompile(`\(.*\b(id|status)=\?`)
	// Agents must be searched in an index that contains all columns by which a list can be filtered.
	ofAgents = regexp.MustCompile(`^SEARCH a USING INDEX agents_(by|listed)`)
	// Only lists may read all agents of a workspace. A single agent must be found by its ID.
	walksAgents = regexp.MustCompile(`^SEARCH a USING .*agents_by_\w+ \(workspace_id=\?\)`)
	// Versions and pins must be found by their agent. Searching by workspace may read the whole table, because one
	// workspace may contain all of them.
	ofVersions = regexp.MustCompile(`^SEARCH (v|p) USING .*\(workspace_id=\?\)`)
)

// readsWhole reports whether a step of a plan scans a table. PostgreSQL is configured to avoid scans where it has an
// alternative, because it would otherwise scan small tables.
func readsWhole(d storetest.Dialect, step string) bool {
	if d == storetest.Postgres {
		return strings.Contains(step, "Seq Scan on")
	}
	return strings.HasPrefix(step, "SCAN") && !ofSubquery.MatchString(step) ||
		ofRuns.MatchString(step) && !narrowly.MatchString(step) || ofAgents.MatchString(step) || ofVersions.MatchString(step)
}
