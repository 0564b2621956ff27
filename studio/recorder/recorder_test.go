package recorder_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/recorder"
)

func follow(ctx context.Context, r *recorder.Recording, from int64) (text string, last runtimes.Event, err error) {
	for seq := from; ; {
		e, err := r.Next(ctx, seq)
		if err != nil {
			return text, last, err
		}
		if e.Seq != seq+1 {
			return text, last, errors.New("a gap in seq")
		}
		if e.Kind == runtimes.KindStdout {
			var s string
			if err := json.Unmarshal(e.Data, &s); err != nil {
				return text, last, err
			}
			text += s
		}
		seq, last = e.Seq, e
	}
}

func TestFollowersSeeAllInOrder(t *testing.T) {
	t.Parallel()
	r := recorder.New(time.Now, nil)
	const lines = 20_000 // number of lines, much larger than eager
	var want strings.Builder
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			text, last, err := follow(t.Context(), r, 0)
			if err != io.EOF || last.Kind != runtimes.KindResult || len(text) != lines*5 {
				t.Errorf("follower: %d bytes, last %s, %v", len(text), last.Kind, err)
			}
		})
	}
	for range lines {
		r.Emit(runtimes.Text(runtimes.KindStdout, "line\n"))
		want.WriteString("line\n")
	}
	r.Close(runtimes.KindResult, func() json.RawMessage { return json.RawMessage(`{}`) })
	readers.Wait()
	if last := r.Last(); last > 5000 {
		t.Fatalf("%d events for %d small writes: the list is not bounded", last, lines)
	}
	if text, _, _ := follow(t.Context(), r, 0); text != want.String() {
		t.Fatal("late follower read another text")
	}
	stdout, _, truncated := r.Output()
	if !truncated || len(stdout) != recorder.TailBytes || !strings.HasSuffix(stdout, "line\n") {
		t.Fatalf("tail of %d bytes, truncated %v", len(stdout), truncated)
	}
}

func TestDrainReturnsEachEventOnce(t *testing.T) {
	t.Parallel()
	r := recorder.New(time.Now, nil)
	r.Emit(runtimes.Text(runtimes.KindStdout, "a"))
	first := r.Drain()
	r.Emit(runtimes.Text(runtimes.KindStderr, "b"))
	r.Close(runtimes.KindResult, func() json.RawMessage { return nil })
	second := r.Drain()
	if len(first) != 1 || len(second) != 2 || second[0].Seq != 2 || len(r.Drain()) != 0 {
		t.Fatalf("taken %d then %d", len(first), len(second))
	}
	r.Emit(runtimes.Text(runtimes.KindStdout, "too late"))
	if len(r.Drain()) != 0 {
		t.Fatal("an event was recorded after Close")
	}
}

func TestGatheredOutputIsPublishedWithoutFurtherEvents(t *testing.T) {
	t.Parallel()
	r := recorder.New(time.Now, nil)
	for range 5000 {
		r.Emit(runtimes.Text(runtimes.KindStdout, "x"))
	}
	text := ""
	for seq := int64(0); len(text) < 5000; { // The test neither closes nor reads the recording, so only the timer can publish the remaining output.
		e, err := r.Next(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		var s string
		if err := json.Unmarshal(e.Data, &s); err != nil {
			t.Fatal(err)
		}
		text, seq = text+s, e.Seq
	}
}

func TestNextEndsWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("reader gone")
	cancel(gone)
	if _, err := recorder.New(time.Now, nil).Next(ctx, 0); !errors.Is(err, gone) {
		t.Fatalf("Next() error = %v", err)
	}
}

func TestTailIsCutAtARuneBorder(t *testing.T) {
	t.Parallel()
	r := recorder.New(time.Now, nil)
	r.Emit(runtimes.Text(runtimes.KindStdout, strings.Repeat("é", recorder.TailBytes/2)+"x"))
	stdout, _, _ := r.Output()
	if strings.Contains(stdout, "\uFFFD") || !strings.HasPrefix(stdout, "é") {
		t.Fatal("the tail starts within a rune")
	}
}

// A server follows a job again, and the job prints all its output from the start, in pieces of different lengths. All
// output must be recorded only once.
func TestResume_RepeatedOutput_RecordedOnce(t *testing.T) {
	t.Parallel()
	log := runtimes.Event{Kind: runtimes.KindLog, Data: json.RawMessage(`{"level":"info","message":"x"}`)}
	before := recorder.New(time.Now, nil)
	for _, e := range []runtimes.Event{runtimes.Text(runtimes.KindStdout, "grüß "), log, runtimes.Text(runtimes.KindStderr, "oops")} {
		before.Emit(e)
	}
	stored := before.Drain()
	const text = "grüß Welt\n"
	for size := 1; size <= len(text); size++ {
		again := recorder.Resume(time.Now, nil, slices.Clone(stored), true)
		for rest := []rune(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			again.Emit(runtimes.Text(runtimes.KindStdout, string(rest[:min(size, len(rest))])))
		}
		again.Emit(log)
		again.Emit(log)
		again.Emit(runtimes.Text(runtimes.KindStderr, "oops!"))
		stdout, stderr, truncated := again.Output()
		logs := 0
		for i, e := range again.Drain() {
			if e.Kind == runtimes.KindLog {
				logs++
			}
			if e.Seq != int64(len(stored)+i+1) {
				t.Errorf("pieces of %d: event %d has number %d", size, i, e.Seq)
			}
		}
		if stdout != text || stderr != "oops!" || truncated || logs != 1 {
			t.Errorf("pieces of %d: %q, %q, %v, %d logs", size, stdout, stderr, truncated, logs)
		}
	}
}
