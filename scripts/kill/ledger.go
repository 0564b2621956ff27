package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// ledger records all answers with which the server has acknowledged a request.
type ledger struct {
	mu       sync.Mutex
	runs     map[string]string // outputs of the runs, by the ID of the run
	order    []string          // IDs of the answered runs, oldest first
	accepted []string
	versions map[string]string // digests of the versions
	keys     map[string]string // ID of the run for each Idempotency-Key; "" for a request without an answer
	large    map[string]string // files of the versions that are stored as blobs
	revision int               // revision of the newest acknowledged draft; the field files contains its files
	files    map[string]string
	readers  []*reader // readers of this round
	resumed  int       // number of readers of earlier rounds that got their run's result
	fault    error     // the first wrong answer while the server was alive

	noBlobs   bool // the servers share no bucket, so they refuse large versions
	disturbed bool // the test disturbs the database, so the server may refuse requests with 503 and Retry-After
}

func (l *ledger) answered(run, output string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[run] = output
	l.order = append(l.order, run)
}

func (l *ledger) asked(key, run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys[key] = run
}

func (l *ledger) took(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted = append(l.accepted, run)
}

func (l *ledger) published(version, digest string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.versions[version] = digest
}

func (l *ledger) largeOne(version, file string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.large[version] = file
}

func (l *ledger) saved(revision int, files map[string]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revision, l.files = revision, files
}

func (l *ledger) reads(r *reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers = append(l.readers, r)
}

func (l *ledger) wrong(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault == nil {
		l.fault = err
	}
}

// some returns a part of the ledger: the newest entries of each kind, which the last kill may have affected, and the
// same number of random older entries.
func (l *ledger) some(random *rand.Rand, size int) *ledger {
	part := &ledger{runs: map[string]string{}, versions: l.versions, keys: l.keys, large: l.large, revision: l.revision, files: l.files, readers: l.readers, fault: l.fault, disturbed: l.disturbed}
	pick := func(all []string) []string {
		picked := slices.Clone(all[max(0, len(all)-size):])
		for range min(size, len(all)) {
			picked = append(picked, all[random.IntN(len(all))])
		}
		return picked
	}
	for _, run := range pick(l.order) {
		part.runs[run] = l.runs[run]
	}
	part.accepted = pick(l.accepted)
	return part
}

// look requests every entry of the ledger from a server and compares the answers with the entries.
func look(ctx context.Context, c load.Client, l *ledger) error {
	faults := []error{l.fault}
	for run, want := range l.runs {
		faults = append(faults, lookForRun(ctx, c, run, want))
	}
	for _, run := range l.accepted {
		faults = append(faults, lookForEnd(ctx, c, run))
	}
	return errors.Join(append(faults, resume(ctx, c, l.readers), lookForVersions(ctx, c, l.versions), lookForBlobs(ctx, c, l.large), lookForDraft(ctx, c, l), noneRuns(ctx, c), retry(ctx, c, l.keys))...)
}

// get reads a record. It retries if the server answers with 503, because on a busy machine the database may be slow for
// a moment. If all attempts get 503, it returns an error.
func get(ctx context.Context, c load.Client, path string, into any) error {
	const tries = 30
	for try := 1; ; try++ {
		err := c.Get(ctx, path, into)
		var refused *load.Refusal
		if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || try == tries {
			return err
		}
		pause := time.NewTimer(time.Second)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

func lookForRun(ctx context.Context, c load.Client, id, want string) error {
	var run load.Run
	if err := get(ctx, c, "/api/v1/runs/"+id, &run); err != nil {
		return fmt.Errorf("read the answered run %s: %w", id, err)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, run.Output); err != nil || run.Status != "succeeded" || got.String() != want {
		return fmt.Errorf("run %s was answered with %s and is found %s with %s", id, want, run.Status, run.Output)
	}
	return nil
}

func lookForEnd(ctx context.Context, c load.Client, id string) error {
	var run load.Run
	if err := get(ctx, c, "/api/v1/runs/"+id, &run); err != nil {
		return fmt.Errorf("read the accepted run %s: %w", id, err)
	}
	if run.Status != "succeeded" && run.Status != "interrupted" {
		return fmt.Errorf("run %s was accepted and is found %s", id, run.Status)
	}
	return nil
}

func lookForVersions(ctx context.Context, c load.Client, want map[string]string) error {
	found := map[string]string{}
	for cursor := ""; ; {
		var page struct {
			Items      []struct{ Version, Digest string }
			NextCursor string
		}
		if err := get(ctx, c, "/api/v1/code-agents/"+growing+"/versions?limit=200&cursor="+cursor, &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			found[item.Version] = item.Digest
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	var faults []error
	for version, digest := range want {
		if found[version] != digest {
			faults = append(faults, fmt.Errorf("version %s was published as %s and is found as %q", version, digest, found[version]))
		}
	}
	return errors.Join(faults...)
}

// lookForBlobs reads one of the versions whose files are stored as a blob.
func lookForBlobs(ctx context.Context, c load.Client, large map[string]string) error {
	for version, want := range large { // the order of a map is random
		var v struct{ Files map[string]string }
		if err := get(ctx, c, "/api/v1/code-agents/"+growing+"/versions/"+version, &v); err != nil {
			return fmt.Errorf("version %s with a large file: %w", version, err)
		}
		if v.Files["data.txt"] != want {
			return fmt.Errorf("version %s has %d bytes in its large file instead of %d", version, len(v.Files["data.txt"]), len(want))
		}
		return nil
	}
	return nil
}

// lookForDraft checks that the draft is the newest acknowledged draft or a later one. The last save may have succeeded
// although its answer was lost.
func lookForDraft(ctx context.Context, c load.Client, l *ledger) error {
	if l.revision == 0 {
		return nil
	}
	var agent struct {
		Draft struct {
			Revision int
			Files    map[string]string
		}
	}
	if err := get(ctx, c, "/api/v1/code-agents/"+growing, &agent); err != nil {
		return err
	}
	if agent.Draft.Revision < l.revision || agent.Draft.Revision == l.revision && !maps.Equal(agent.Draft.Files, l.files) {
		return fmt.Errorf("revision %d of the draft was saved, and revision %d is found", l.revision, agent.Draft.Revision)
	}
	return nil
}

// leftovers returns an error if temporary files of interrupted writes exist. A server must remove such files when it
// starts.
func leftovers(data string) error {
	var found []string
	for _, pattern := range []string{"blobs/*/.new-*", "unrecorded/*.new", "secrets.key.next-*"} {
		paths, err := filepath.Glob(filepath.Join(data, pattern))
		if err != nil {
			return err
		}
		found = append(found, paths...)
	}
	if len(found) > 0 {
		return fmt.Errorf("files of killed writes are left: %v", found)
	}
	return nil
}

// noneRuns checks that the restarted server lists no run as queued or running. Such a run would be one that the killed
// server left.
func noneRuns(ctx context.Context, c load.Client) error {
	var faults []error
	for _, status := range []string{"running", "queued"} {
		var list struct{ Items []load.Run }
		if err := get(ctx, c, "/api/v1/runs?status="+status, &list); err != nil {
			return err
		}
		if len(list.Items) > 0 {
			faults = append(faults, fmt.Errorf("run %s and others are %s for ever", list.Items[0].RunID, status))
		}
	}
	return errors.Join(faults...)
}

// retry repeats the requests that got no answer. It then checks that exactly one run exists for each key.
func retry(ctx context.Context, c load.Client, keys map[string]string) error {
	for key, run := range keys {
		if run != "" {
			continue
		}
		id, err := executeKeyed(ctx, c, key)
		if err != nil {
			return fmt.Errorf("retry with the key %s: %w", key, err)
		}
		keys[key] = id
	}
	found := map[string]bool{}
	for cursor := ""; ; {
		var page struct {
			Items      []load.Run
			NextCursor string
		}
		if err := get(ctx, c, "/api/v1/runs?limit=200&agent="+keyed+"&cursor="+cursor, &page); err != nil {
			return err
		}
		for _, run := range page.Items {
			found[run.RunID] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	var faults []error
	for key, run := range keys {
		if !found[run] {
			faults = append(faults, fmt.Errorf("the run %s of the key %s is not there", run, key))
		}
	}
	if len(found) != len(keys) {
		faults = append(faults, fmt.Errorf("%d keys have %d runs", len(keys), len(found)))
	}
	return errors.Join(faults...)
}
