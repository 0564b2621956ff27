package projects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
)

// shelf is a store of contents in memory. It records the largest number of bytes that were read together.
type shelf struct {
	bytes map[string][]byte
	most  int
}

func (s *shelf) PutContents(_ context.Context, _ string, contents []registry.Content, _ time.Time) error {
	for _, c := range contents {
		s.bytes[c.Digest] = c.Bytes
	}
	return nil
}

func (s *shelf) Contents(_ context.Context, _ string, digests []string) (map[string][]byte, error) {
	found, size := map[string][]byte{}, 0
	for _, digest := range digests {
		found[digest] = s.bytes[digest]
		size += len(found[digest])
	}
	s.most = max(s.most, size)
	return found, nil
}

// reading returns a session of a program that reads a project with these files.
func reading(texts map[string][]byte) (*Session, *shelf) {
	kept, tree := &shelf{bytes: map[string][]byte{}}, registry.Tree{}
	for path, text := range texts {
		digest := blobs.Digest(text)
		kept.bytes[digest], tree[path] = text, registry.TreeFile{Digest: digest, Size: int64(len(text))}
	}
	return &Session{service: New(Options{Contents: kept}), base: tree, sorted: slices.Sorted(maps.Keys(tree)), edits: map[string]edit{}}, kept
}

func TestSearchContent_LargeProject_ReadsInBatches(t *testing.T) {
	t.Parallel()
	texts := map[string][]byte{}
	for n := range 40 {
		texts[fmt.Sprintf("file%02d", n)] = bytes.Repeat(fmt.Appendf(nil, "line %d\n", n), 1<<17)
	}
	session, kept := reading(texts)
	pattern, problem := expression("line 39")
	if problem != "" {
		t.Fatal(problem)
	}
	_, tooMany, err := session.search(t.Context(), session.below(""), pattern)
	if err != nil || !tooMany {
		t.Errorf("%v, %v", tooMany, err)
	}
	if kept.most == 0 || kept.most > batchBytes {
		t.Errorf("%d bytes at once", kept.most)
	}
}

// ending is a context whose Err reports cancellation after a number of calls.
type ending struct {
	context.Context //nolint:containedctx // the test needs its own context type
	left            int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestSearchContent_CancelledWithinLongLine_Ends(t *testing.T) {
	t.Parallel()
	session, _ := reading(map[string][]byte{"long": bytes.Repeat([]byte("ab"), 1<<20)})
	pattern, problem := expression("(a?b?){50}c")
	if problem != "" {
		t.Fatal(problem)
	}
	if _, _, err := session.search(&ending{t.Context(), 3}, session.below(""), pattern); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestSearch_LongLine_SameMeaning(t *testing.T) {
	t.Parallel()
	long := append(bytes.Repeat([]byte("é"), longLine), "end"...)
	session, _ := reading(map[string][]byte{"long": append(append([]byte("short end\n"), long...), '\n')})
	for text, want := range map[string]int{"end$": 2, "^é": 1, "^short": 1, "é{2}end": 1, "nothing": 0, "(é+)+!$": 0} {
		pattern, problem := expression(text)
		if problem != "" {
			t.Fatal(problem)
		}
		found, _, err := session.search(t.Context(), session.below(""), pattern)
		if err != nil || len(found) != want {
			t.Errorf("%s: %d lines, %v", text, len(found), err)
		}
	}
}

func TestSearchFiles_Cancelled_Ends(t *testing.T) {
	t.Parallel()
	session, _ := reading(map[string][]byte{"a": nil, "b": nil})
	_, _, err := session.Call(&ending{t.Context(), 1}, "searchFiles", []byte(`{"pattern":"**"}`))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestDifference_ManyLargeFiles_Bounded(t *testing.T) {
	t.Parallel()
	shown, total, hidden := 0, 0, 0
	for n := range 40 {
		text := bytes.Repeat(fmt.Appendf(nil, "%d\n", n), 1<<18)
		three := threeSides{overlay: side{exists: true, digest: blobs.Digest(text), text: text}}
		d := three.difference(registry.OverlayEntry{Path: "a", Kind: registry.FileAdded}, registry.OverlayOpen, &shown)
		if total += len(d.Unified); d.Binary && d.Unified == "" {
			hidden++
		}
	}
	if total == 0 || total > maxShown+2*maxMerged || hidden == 0 {
		t.Errorf("%d bytes, %d files are not shown", total, hidden)
	}
}
