package doctor

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/atelier-run/atelier/runtimes"
)

// recorder is the host of the doctor's own programs. It stores their output.
type recorder struct {
	mu      sync.Mutex
	stdout  strings.Builder
	stderr  strings.Builder
	changed chan struct{}
}

func newRecorder() *recorder { return &recorder{changed: make(chan struct{})} }

// Emit implements runtimes.Host.
func (r *recorder) Emit(e runtimes.Event) {
	var text string
	if e.Kind != runtimes.KindStdout && e.Kind != runtimes.KindStderr || json.Unmarshal(e.Data, &text) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == runtimes.KindStdout {
		r.stdout.WriteString(text) // the run's output limit bounds the size
	} else {
		r.stderr.WriteString(text)
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// Call implements runtimes.Host. It allows only the functions that are always allowed.
func (r *recorder) Call(_ context.Context, name string, _ json.RawMessage) (json.RawMessage, error) {
	if name == "log" || name == "progress" {
		return nil, nil
	}
	return nil, &runtimes.CallError{Code: "denied", Message: "The host function " + name + " is not granted."}
}

func (r *recorder) text() (stdout, stderr string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stdout.String(), r.stderr.String()
}

// await waits until the program has printed a text, ended is closed, or ctx ends.
func (r *recorder) await(ctx context.Context, text string, ended <-chan struct{}) {
	for {
		r.mu.Lock()
		changed := r.changed
		there := strings.Contains(r.stdout.String(), text)
		r.mu.Unlock()
		if there {
			return
		}
		select {
		case <-changed:
		case <-ended:
			return
		case <-ctx.Done():
			return
		}
	}
}
