package archives_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/archives"
	"github.com/atelier-run/atelier/studio/references"
	"github.com/atelier-run/atelier/studio/specs"
)

var errGone = errors.New("the database is gone")

// failing is a store that fails after it has written a number of versions.
type failing struct {
	*store.Store
	left int
}

func (f *failing) ImportVersion(ctx context.Context, workspace string, v registry.Version) error {
	if f.left--; f.left < 0 {
		return errGone
	}
	return f.Store.ImportVersion(ctx, workspace, v)
}

var actor = registry.Actor{ID: "u", Type: registry.UserActor, Name: "Ada", Workspace: "default"}

func service(s *store.Store, versions archives.Versions) *archives.Service {
	return archives.New(archives.Options{
		Agents: s, Names: s, Versions: versions, Resolver: references.New(s, time.Now), Specs: checker(), Now: time.Now, NewID: newID,
	})
}

func checker() *specs.Checker {
	return specs.New(specs.NewValidator(schema.NewCache(16)), runtimes.DefaultLimits(), runtimes.DefaultCeilings())
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// written stores an agent with versions, a former name, an origin and a listing in the public registry.
func written(t *testing.T, s *store.Store, name string, numbers ...string) registry.Agent {
	t.Helper()
	spec, err := checker().Complete(registry.Spec{Language: runtimes.Bash, Files: map[string]registry.File{"main.sh": registry.File("echo 1\n")}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	a := registry.Agent{
		ID: newID(), Workspace: "default", Name: "former-" + name, Title: "T", Tags: []string{"x"}, Metadata: []byte(`{}`), Draft: registry.Draft{Revision: 1, Spec: spec}, CreatedAt: now, UpdatedAt: now, CreatedBy: "u",
		Origin: &registry.Origin{AgentID: newID(), Name: "echo", Version: "1.0.0", Digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"},
	}
	if err := s.CreateAgent(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for _, number := range numbers {
		publish(t, s, a, number, runtimes.BashEngine, spec)
	}
	a.Name = name
	if err := s.PatchAgent(t.Context(), a, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetListed(t.Context(), "default", a.ID, true, now); err != nil {
		t.Fatal(err)
	}
	return a
}

// publish stores a version of an agent.
func publish(t *testing.T, s *store.Store, a registry.Agent, number string, engine runtimes.Name, spec registry.Spec) {
	t.Helper()
	v := registry.Version{ID: newID(), AgentID: a.ID, Agent: a.Name, Version: number, PublishedAt: a.CreatedAt, PublishedBy: "u", Spec: spec}
	v.Runtime = engine
	sums, err := digest.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	v.Digest, v.ContentDigest, v.CodeDigest = sums.Version, sums.Content, sums.Code
	if err := s.InsertVersion(t.Context(), "default", v); err != nil {
		t.Fatal(err)
	}
}

// A version with the isolation "reuse", which no longer exists, is imported with its digest. A draft with it gets the
// default isolation.
func TestImportRemovedIsolation(t *testing.T) {
	t.Parallel()
	source, target := storetest.Open(t, storetest.SQLite), storetest.Open(t, storetest.SQLite)
	spec, err := checker().Complete(registry.Spec{Language: runtimes.JavaScript, Files: map[string]registry.File{"main.js": registry.File("export default () => 1\n")}})
	if err != nil {
		t.Fatal(err)
	}
	spec.Isolation = "reuse"
	now := time.Now().UTC().Truncate(time.Microsecond)
	a := registry.Agent{
		ID: newID(), Workspace: "default", Name: "old", Metadata: []byte(`{}`), Draft: registry.Draft{Revision: 1, Spec: spec}, CreatedAt: now, UpdatedAt: now, CreatedBy: "u",
	}
	if err := source.CreateAgent(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	publish(t, source, a, "1.0.0", runtimes.NodeEngine, spec)
	if _, err := service(target, target).Import(t.Context(), actor, bytes.NewReader(exported(t, source)), archives.ImportRequest{}); err != nil {
		t.Fatal(err)
	}
	draft, err := target.Agent(t.Context(), "default", "old")
	if err != nil || draft.Draft.Isolation != runtimes.Pooled || draft.LatestVersion != "1.0.0" {
		t.Errorf("draft isolation %q, latest %q, %v", draft.Draft.Isolation, draft.LatestVersion, err)
	}
}

func exported(t *testing.T, s *store.Store) []byte {
	t.Helper()
	export, err := service(s, s).Export(t.Context(), actor, nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := export.Write(t.Context(), &file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// After an interrupted import no agent is visible. Importing the same archive again continues the import.
func TestAnImportIsThereWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		source := storetest.Open(t, storetest.SQLite)
		a := written(t, source, "one", "1.0.0", "1.1.0")
		written(t, source, "two", "1.0.0", "2.0.0")
		file := exported(t, source)
		for left := range 3 { // The versions that the previous import wrote are kept.
			if _, err := service(s, &failing{s, left}).Import(t.Context(), actor, bytes.NewReader(file), archives.ImportRequest{}); !errors.Is(err, errGone) {
				t.Fatal(err)
			}
			if page, err := s.ListAgents(t.Context(), "default", registry.AgentFilter{}); err != nil || len(page.Items) != 0 {
				t.Fatalf("after %d versions %d agents are there, %v", left, len(page.Items), err)
			}
		}
		report, err := service(s, s).Import(t.Context(), actor, bytes.NewReader(file), archives.ImportRequest{Listed: true})
		if err != nil || len(report) != 2 || report[0].Added+report[0].Kept != 2 || report[1].Added+report[1].Kept != 2 || !report[0].Listed {
			t.Fatalf("%+v %v", report, err)
		}
		got, err := s.Agent(t.Context(), "default", "former-one")
		if err != nil || got.ID != a.ID || got.Name != "one" || got.LatestVersion != "1.1.0" || got.VersionCount != 2 || !got.Listed || got.Origin == nil || *got.Origin != *a.Origin {
			t.Errorf("%+v %v", got, err)
		}
		if page, err := s.Listed(t.Context(), registry.AgentFilter{Query: "one x"}); err != nil || len(page.Items) != 1 {
			t.Errorf("%+v %v", page, err)
		}
		if again := exported(t, s); !bytes.Equal(again, file) {
			t.Error("the second archive is another")
		}
	})
}

// An existing agent gets the former names in the archive. It is listed only on request.
func TestAnImportGivesFormerNames(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		source := storetest.Open(t, storetest.SQLite)
		a := written(t, source, "one", "1.0.0")
		early := exported(t, source)
		a.Name = "renamed"
		if err := source.PatchAgent(t.Context(), a, time.Time{}); err != nil {
			t.Fatal(err)
		}
		a.Name = "one"
		if err := source.PatchAgent(t.Context(), a, time.Time{}); err != nil {
			t.Fatal(err)
		}
		late := exported(t, source)
		imports := func(file []byte) ([]archives.Imported, error) {
			return service(s, s).Import(t.Context(), actor, bytes.NewReader(file), archives.ImportRequest{})
		}
		if _, err := imports(early); err != nil {
			t.Fatal(err)
		}
		for _, want := range []archives.Imported{
			{Name: "one", Outcome: archives.Extended, Kept: 1, Names: 1, Listed: true}, {Name: "one", Outcome: archives.Unchanged, Kept: 1, Listed: true},
		} {
			if report, err := imports(late); err != nil || len(report) != 1 || report[0] != want {
				t.Errorf("%+v, not %+v, %v", report, want, err)
			}
		}
		if got, err := s.Agent(t.Context(), "default", "renamed"); err != nil || got.Name != "one" || got.Listed {
			t.Errorf("%+v %v", got, err)
		}
		written(t, source, "three", "1.0.0")
		taken := written(t, s, "third", "1.0.0")
		taken.Name = "former-three"
		if err := s.PatchAgent(t.Context(), taken, time.Time{}); err != nil {
			t.Fatal(err)
		}
		var refused *fault.Error
		if _, err := imports(exported(t, source)); !errors.As(err, &refused) || refused.Code != fault.NameTaken {
			t.Errorf("a name that another agent has: %v", err)
		}
	})
}

// A slow upload must not delay other imports. An upload above the limit must be rejected immediately.
func TestASlowUploadIsWaitedForByNobody(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	source := storetest.Open(t, storetest.SQLite)
	written(t, source, "one", "1.0.0")
	file, imports := exported(t, source), service(s, s)
	var slow sync.WaitGroup
	var senders []*io.PipeWriter
	send := func() {
		reader, writer := io.Pipe()
		senders = append(senders, writer)
		slow.Go(func() {
			var refused *fault.Error
			if _, err := imports.Import(t.Context(), actor, reader, archives.ImportRequest{}); !errors.As(err, &refused) || refused.Code != fault.InvalidInput {
				t.Errorf("what was cut off is imported: %v", err)
			}
		})
		if _, err := writer.Write(file[:1]); err != nil { // The service now waits for the rest of the upload.
			t.Fatal(err)
		}
	}
	for range 3 {
		send()
	}
	if report, err := imports.Import(t.Context(), actor, bytes.NewReader(file), archives.ImportRequest{}); err != nil || len(report) != 1 {
		t.Errorf("%+v %v", report, err)
	}
	send()
	var refused *fault.Error
	if _, err := imports.Import(t.Context(), actor, bytes.NewReader(file), archives.ImportRequest{}); !errors.As(err, &refused) || refused.Code != fault.TooManyRequests {
		t.Errorf("a fifth is taken: %v", err)
	}
	for _, writer := range senders {
		if err := writer.Close(); err != nil {
			t.Error(err)
		}
	}
	slow.Wait()
}
