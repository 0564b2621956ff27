package node

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// oldest is the oldest major version of Node that has all features used by the guest script and by bundled programs.
const oldest = 20

func unavailable(err error) error {
	return &fault.Error{
		Code:    fault.RuntimeUnavailable,
		Message: fmt.Sprintf("Node is not available on this server. Install Node.js %d or newer in /usr/bin or /usr/local/bin, or set its path with --node, and restart the server. Or choose the runtime goja.", oldest),
		Err:     err,
	}
}

// version is the result of checking the interpreter's version. The version is read once, in a sandbox.
type version struct {
	mu    sync.Mutex
	known bool
	err   error
}

// check returns an error if the interpreter is unsuitable. The first call starts the interpreter to read its version. The
// result is cached unless the interpreter was ended before it printed the version. If ctx is cancelled meanwhile, check
// returns no error, because the run then ends as cancelled anyway.
func (v *version) check(ctx context.Context, pool *worker.Pool, interpreter string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known {
		return v.err
	}
	var said bytes.Buffer
	job := runtimes.Job{RunID: "version of node", Limits: runtimes.DefaultLimits()}
	outcome, err := pool.Run(ctx, worker.Task{
		Job: job, Overhead: overhead,
		Payload: program.Job{Argv: []string{interpreter, "--version"}, Env: program.Environment(), Largest: job.Limits.OutputBytes, Rlimits: program.LimitsOf(job.Limits, stackBytes)},
		Tap: func(kind frames.Kind, p []byte) {
			if kind == frames.Stdout {
				said.Write(p)
			}
		},
	}, silent{})
	switch {
	case err != nil:
		return err
	case outcome.Error != nil && outcome.Error.Type == runtimes.Cancelled:
		return nil
	case outcome.Error != nil:
		return unavailable(fmt.Errorf("asked for its version: %s", outcome.Error.Message))
	}
	v.known, v.err = true, judge(said.String())
	return v.err
}

func judge(said string) error {
	said = strings.TrimSpace(said)
	major, _, _ := strings.Cut(strings.TrimPrefix(said, "v"), ".")
	number, err := strconv.Atoi(major)
	switch {
	case err != nil || !strings.HasPrefix(said, "v"):
		return unavailable(fmt.Errorf("it reported the version %.60q", said))
	case number < oldest:
		return unavailable(fmt.Errorf("its version is %.60s", said))
	}
	return nil
}
