package agents_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/agents/agentstest"
)

// Regression: saving and publishing took six times as long for an agent with 2,000 versions. This test checks that the
// number of statements does not grow; registry/store tests the query plans.
func TestPublish_ManyVersions_SameWork(t *testing.T) {
	t.Parallel()
	for _, dialect := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			var statements atomic.Int64
			o := storetest.Options(t, dialect)
			o.Asked = func(context.Context, string) { statements.Add(1) }
			s := storetest.Reopen(t, o)
			service := agents.New(agentstest.Options(s))
			name, language, n := "weather", runtimes.Bash, 0
			code := "echo 0\n"
			if _, err := service.Create(t.Context(), access.Administrator(), agents.Input{Name: &name, Language: &language, Code: &code}); err != nil {
				t.Fatal(err)
			}
			work := func() (asked int64, took time.Duration) {
				t.Helper()
				n++
				code := fmt.Sprintf("echo %d\n", n)
				before, began := statements.Load(), time.Now()
				saved, err := service.Save(t.Context(), access.Administrator(), name, registry.AnyRevision(), agents.Input{Code: &code})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := service.Publish(t.Context(), access.Administrator(), name, agents.PublishRequest{Seen: registry.SeenRevision(saved.Draft.Revision), Bump: "major"}); err != nil {
					t.Fatal(err)
				}
				if len(saved.Changelog) > 100 {
					t.Errorf("the answer to a save has %d entries of the history", len(saved.Changelog))
				}
				return statements.Load() - before, time.Since(began)
			}
			for range registry.KeptSaves + 2 { // Repeat until the history of the draft has its maximum length.
				work()
			}
			few, quick := work()
			fill(t, s, service, name, 2000)
			work() // Do the work once before counting, because the database also writes the pages that the setup changed.
			many, slow := work()
			if many > few {
				t.Errorf("%d statements with few versions, %d with 2000", few, many)
			}
			t.Logf("save and publish: %s with %d versions, %s with 2000", quick.Round(100*time.Microsecond), n, slow.Round(100*time.Microsecond))
		})
	}
}

// fill adds versions until the agent has the given number of versions.
func fill(t *testing.T, s *store.Store, service *agents.Service, name string, total int) {
	t.Helper()
	last, err := service.Version(t.Context(), access.Administrator(), name, "latest")
	if err != nil {
		t.Fatal(err)
	}
	for i := range total {
		v := last
		v.ID, v.Version = uuid.Must(uuid.NewV7()).String(), fmt.Sprintf("0.%d.0", i+1)
		v.Digest, v.ContentDigest = fmt.Sprintf("sha256:%064d", i), fmt.Sprintf("sha256:%064d", i)
		v.PublishedAt = last.PublishedAt.Add(-time.Duration(i) * time.Minute)
		if err := s.InsertVersion(t.Context(), registry.DefaultWorkspace, v); err != nil {
			t.Fatal(err)
		}
	}
}
