package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
)

func folder(t *testing.T, dir string) *blobs.Folder {
	t.Helper()
	f, err := blobs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func asFault(err error, target **fault.Error) bool { return errors.As(err, target) }

func version(a registry.Agent, number string) registry.Version {
	v := registry.Version{
		ID: newID(), AgentID: a.ID, Agent: a.Name, Title: a.Title, Description: a.Description, Version: number,
		Digest: "sha256:" + newID(), ContentDigest: "sha256:content", CodeDigest: "sha256:code",
		Changelog: "Changes of " + number, PublishedAt: start, PublishedBy: robot.ID, Publisher: robot, Spec: a.Draft.Spec,
	}
	v.Runtime = runtimes.Goja
	v.RuntimeAuto = true
	v.RuntimeChoice = &registry.RuntimeChoice{
		Runtime: runtimes.Goja, Reason: registry.RuntimeUnavailable, Message: "Node would be chosen.", Gaps: []fault.Detail{{File: "main.ts", Line: 2, Message: "Intl"}}, Runs: 1, CPUMs: 2.5,
	}
	return v
}

func publish(t *testing.T, s *store.Store, a registry.Agent, number string) registry.Version {
	t.Helper()
	v := version(a, number)
	if err := s.InsertVersion(t.Context(), a.Workspace, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func candidates(t *testing.T, s *store.Store, agent, version string) (name string, found []registry.Version) {
	t.Helper()
	all, err := s.Candidates(t.Context(), ws, []registry.Reference{{Agent: agent, Version: version}})
	if err != nil {
		t.Fatal(err)
	}
	return all[0].Agent, all[0].Versions
}

// TestCandidatesOfManyReferences checks that many references are looked up with one query for each kind of version
// reference, and that each gets the same result as if it were looked up alone.
func TestCandidatesOfManyReferences(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		one, two, gone := create(t, s, agent("one")), create(t, s, agent("two")), create(t, s, agent("gone"))
		var digest string
		for _, number := range []string{"1.0.0", "1.1.0"} {
			digest = publish(t, s, one, number).Digest
			publish(t, s, two, number)
		}
		renamed := two
		renamed.Name = "deux"
		if err := errors.Join(s.PatchAgent(t.Context(), renamed, time.Time{}), s.DeleteAgent(t.Context(), ws, gone.ID, false, start, registry.Deletion{})); err != nil {
			t.Fatal(err)
		}
		theirs := agent("theirs")
		theirs.Workspace = "other"
		create(t, s, theirs)
		var refs []registry.Reference
		for _, name := range []string{"one", "ONE", one.ID, "two", "deux", "gone", gone.ID, "theirs", "nobody", "o\x00e", "#" + one.ID, ""} {
			for _, version := range []string{"1.0.0", "1.1.0", "9.0.0", digest, "latest", "^1"} {
				refs = append(refs, registry.Reference{Agent: name, Version: version})
			}
		}
		var together []registry.Candidates
		queries := s.Asked(func(s *store.Store) {
			var err error
			if together, err = s.Candidates(t.Context(), ws, refs); err != nil {
				t.Error(err)
			}
		})
		if len(queries) != 3 {
			t.Errorf("%d queries for exact versions, digests and ranges", len(queries))
		}
		for i, ref := range refs {
			name, found := candidates(t, s, ref.Agent, ref.Version)
			if alone, amongOthers := registry.Pick(ref.Version, found), registry.Pick(ref.Version, together[i].Versions); name != together[i].Agent ||
				(alone < 0) != (amongOthers < 0) || alone >= 0 && found[alone].Digest != together[i].Versions[amongOthers].Digest {
				t.Errorf("%s: alone %s %v, among others %s %v", ref, name, found, together[i].Agent, together[i].Versions)
			}
			if want := map[string]string{"one": "one", one.ID: "one", "two": "deux", "deux": "deux"}[ref.Agent]; name != want && ref.Agent != "ONE" {
				t.Errorf("%s is of %q, want %q", ref, name, want)
			}
		}
	})
}

func TestVersionComesBackAsItWas(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		want := publish(t, s, a, "1.0.0")
		got, err := s.Version(t.Context(), ws, a.ID, "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		for _, reference := range []string{want.Digest, "1.0.0", "^1"} {
			name, found := candidates(t, s, "weather", reference)
			if name != "weather" || len(found) != 1 || found[0].AgentID != a.ID || found[0].Digest != want.Digest || found[0].Reference() != "weather@1.0.0" {
				t.Errorf("%s: %s %+v", reference, name, found)
			}
		}
		for _, reference := range []string{"sha256:0", "1.0.1"} {
			if name, found := candidates(t, s, a.ID, reference); name != "weather" || len(found) != 0 {
				t.Errorf("%s: %s %+v", reference, name, found)
			}
		}

		_, err = s.Version(t.Context(), ws, a.ID, "1.0.1")
		expect(t, err, fault.NotFound)
		_, err = s.Version(t.Context(), "other", a.ID, "1.0.0")
		expect(t, err, fault.NotFound)
		expect(t, s.InsertVersion(t.Context(), "other", version(a, "3.0.0")), fault.NotFound)
	})
}

func TestLargeFilesAreABlob(t *testing.T) {
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			o := storetest.Options(t, d)
			dir := filepath.Join(t.TempDir(), "blobs")
			o.Blobs = folder(t, dir)
			s := storetest.Reopen(t, o)
			a := agent("weather")
			a.Draft.Files = map[string]registry.File{"main.ts": bytes.Repeat([]byte("// 'line'\n"), 20_000), "b": {0, 1}}
			create(t, s, a)
			want := publish(t, s, a, "1.0.0")
			got, err := s.Version(t.Context(), ws, a.ID, "1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
			if draft, err := s.Agent(t.Context(), ws, a.ID); err != nil || !bytes.Equal(draft.Draft.Files["main.ts"], a.Draft.Files["main.ts"]) {
				t.Errorf("the draft lost its files: %v", err)
			}

			files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
			if err != nil || len(files) != 1 {
				t.Fatalf("blobs: %v, %v", files, err)
			}
			if err := os.Remove(files[0]); err != nil {
				t.Fatal(err)
			}
			_, err = s.Version(t.Context(), ws, a.ID, "1.0.0")
			expect(t, err, fault.Internal) // the version exists, so NotFound would be wrong
		})
	}
}

func TestVersionsAreNewestFirstAndLatestIsNoPreRelease(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		latest := map[string]string{"1.9.0": "1.9.0", "1.10.0": "1.10.0", "2.0.0-rc.1": "1.10.0", "1.2.0": "1.10.0", "2.0.0": "2.0.0"}
		for i, number := range []string{"1.9.0", "1.10.0", "2.0.0-rc.1", "1.2.0", "2.0.0"} {
			v := version(a, number)
			v.PublishedAt = start.Add(time.Duration(i) * time.Minute)
			if err := s.InsertVersion(t.Context(), ws, v); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Agent(t.Context(), ws, a.ID); err != nil || got.LatestVersion != latest[number] {
				t.Errorf("after %s the latest is %q, %v", number, got.LatestVersion, err)
			}
		}
		all, err := s.Versions(t.Context(), ws, a.ID)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range all {
			got = append(got, v.Version)
			if v.Files != nil {
				t.Error("a list has files")
			}
		}
		same(t, got, []string{"2.0.0", "2.0.0-rc.1", "1.10.0", "1.9.0", "1.2.0"})
		read, err := s.Agent(t.Context(), ws, a.ID)
		if err != nil || len(read.Changelog) != 5 || read.Changelog[0].Changes != "Changes of 2.0.0" || !read.Changelog[4].Date.Equal(start) {
			t.Errorf("changelog %+v, %v", read.Changelog, err)
		}
	})
}

func TestDeprecationIsTheOnlyChange(t *testing.T) {
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, d)
			a := create(t, s, agent("weather"))
			want := publish(t, s, a, "1.0.0")
			if err := s.SetDeprecated(t.Context(), ws, a.ID, "1.0.0", true, "broken", ""); err != nil {
				t.Fatal(err)
			}
			expect(t, s.SetDeprecated(t.Context(), ws, a.ID, "9.0.0", true, "", ""), fault.NotFound)
			expect(t, s.SetDeprecated(t.Context(), "other", a.ID, "1.0.0", false, "", ""), fault.NotFound)
			for _, statement := range []string{"UPDATE versions SET spec = '{}'", "UPDATE versions SET version = '2.0.0'", "UPDATE versions SET files = '{}'", "DELETE FROM versions"} {
				if err := s.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "a published version is") {
					t.Errorf("%s: %v", statement, err)
				}
			}
			want.Deprecated, want.Reason = true, "broken"
			got, err := s.Version(t.Context(), ws, a.ID, "1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		})
	}
}

func TestInsertVersion_OnlyBuildMetadataDiffers_VersionExists(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		for _, number := range []string{"1.0.0+b", "1.1.0", "1.1.0-RC+1"} {
			if err := s.InsertVersion(t.Context(), ws, version(a, number)); err != nil {
				t.Fatal(number, err)
			}
		}
		for _, number := range []string{"1.0.0", "1.0.0+a", "1.1.0+x", "1.1.0-RC", "1.1.0-RC+2"} {
			expect(t, s.InsertVersion(t.Context(), ws, version(a, number)), fault.VersionExists)
		}
		for _, number := range []string{"1.1.0-rc", "1.1.1", "11.1.0", "1.0.0-b"} {
			if err := s.InsertVersion(t.Context(), ws, version(a, number)); err != nil {
				t.Error(number, err)
			}
		}
	})
}

func TestOneOfManyPublishersWins(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		const numbers, publishers = 4, 10
		var won, refused atomic.Int64
		var group sync.WaitGroup
		for i := range numbers * publishers {
			group.Go(func() {
				err := s.InsertVersion(t.Context(), ws, version(a, fmt.Sprintf("1.%d.0", i%numbers)))
				switch {
				case err == nil:
					won.Add(1)
				case fault.Is(err, fault.VersionExists):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if won.Load() != numbers || refused.Load() != numbers*(publishers-1) {
			t.Errorf("%d publications succeeded, %d were refused", won.Load(), refused.Load())
		}
		if got, err := s.Agent(t.Context(), ws, a.ID); err != nil || got.LatestVersion != "1.3.0" || len(got.Changelog) != numbers {
			t.Errorf("latest %q, %d entries, %v", got.LatestVersion, len(got.Changelog), err)
		}
	})
}

// TestNumbers_SQLite_ReadsOnlyIndexes checks that saving and publishing read an agent's versions only from indexes,
// except for the newest versions in its changelog.
func TestNumbers_SQLite_ReadsOnlyIndexes(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	a := create(t, s, agent("weather"))
	v := publish(t, s, a, "1.0.0")
	plans := func(ask func(s *store.Store) error) (text string) {
		t.Helper()
		for _, query := range s.Asked(func(s *store.Store) {
			if err := ask(s); err != nil {
				t.Fatal(err)
			}
		}) {
			steps, err := s.Plan(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			text += strings.Join(steps, "\n") + "\n"
		}
		return text
	}
	if got := plans(func(s *store.Store) error { _, err := s.Numbers(t.Context(), ws, a.ID); return err }); !strings.Contains(got, "COVERING INDEX versions_numbers") {
		t.Error(got)
	}
	if got := plans(func(s *store.Store) error { _, err := s.Agent(t.Context(), ws, a.Name); return err }); !strings.Contains(got, "versions_newest") || strings.Contains(got, "TEMP B-TREE") {
		t.Error(got)
	}
	numbers, err := s.Numbers(t.Context(), ws, a.ID)
	if err != nil || len(numbers) != 1 || numbers[0].Version != v.Version || numbers[0].ContentDigest != v.ContentDigest || numbers[0].Digest != v.Digest || numbers[0].Reference() != v.Reference() {
		t.Errorf("%+v, %v", numbers, err)
	}
	if others, err := s.Numbers(t.Context(), "other", a.ID); err != nil || len(others) != 0 {
		t.Errorf("%+v, %v", others, err)
	}
}
