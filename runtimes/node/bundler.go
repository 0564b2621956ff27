package node

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/lru"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
	"github.com/atelier-run/atelier/runtimes/node/guest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Limits of the bundler's cache, of the size of a program in bytes, and of the time to bundle a program.
const (
	maxKept      = 256
	maxKeptBytes = 32 << 20
	maxBundle    = 16 << 20
	bundleTime   = 20 * time.Second
	bundleMemory = 512 << 20
)

// A bundler is replaced after this many programs or this period of time.
const (
	bundleRuns = 500
	bundleAge  = 10 * time.Minute
)

// bundler bundles agents' files in a sandbox and caches the resulting programs. Versions of agents are immutable, so a cache
// entry never becomes outdated.
type bundler struct {
	pool *worker.Pool
	kept *lru.Cache[string, guest.Program]
}

func newBundler(options Options) *bundler {
	return &bundler{
		kept: lru.New[string, guest.Program](maxKept, maxKeptBytes),
		pool: worker.NewPool(worker.Options{
			Jailer: options.Jailer, Max: options.Max, Log: options.Log,
			Profile: sandbox.Profile{Role: guest.RoleName, Filter: sandbox.FilterWorker, Limits: runtimes.DefaultLimits()},
			Reuse:   worker.Reuse{Runs: bundleRuns, Age: bundleAge},
		}),
	}
}

// bundle returns the program of a job. If there is none, it returns the outcome of the run.
func (b *bundler) bundle(ctx context.Context, job runtimes.Job) (guest.Program, *runtimes.Outcome, error) {
	key := ""
	// The bundler has read files of this workspace, so its programs must not be used by another workspace.
	if job.CodeDigest != "" && job.Workspace != "" {
		key = job.Workspace + " " + job.CodeDigest + " " + string(job.Language) + " " + job.Entrypoint
		if job.Packages != nil {
			key += " " + job.Packages.Digest
		}
	}
	if made, ok := b.kept.Get(key); ok {
		return made, nil, nil
	}
	own := job
	own.Isolation = runtimes.Pooled
	own.Limits = runtimes.DefaultLimits()
	own.Limits.TimeoutMs, own.Limits.CPUMs = bundleTime.Milliseconds(), bundleTime.Milliseconds()
	own.Limits.MemoryBytes, own.Limits.OutputBytes = bundleMemory, maxBundle
	outcome, err := b.pool.Run(ctx, worker.Task{
		Job: own, Payload: guest.Job{Files: bundle.Texts(job), Entrypoint: job.Entrypoint, Language: job.Language}, Death: death,
	}, silent{})
	if err != nil || outcome.Error != nil {
		outcome.Usage = runtimes.Usage{}
		return guest.Program{}, &outcome, err
	}
	var made guest.Program
	if err := json.Unmarshal(outcome.Output, &made); err != nil {
		return guest.Program{}, nil, &fault.Error{Code: fault.SandboxUnavailable, Message: "The bundler sent an invalid answer.", Err: err}
	}
	if key != "" {
		b.kept.Put(key, made, size(made))
	}
	return made, nil, nil
}

func size(p guest.Program) int { return len(p.Code) + len(p.Map) }

// death returns the program error if a bundler died of a stack overflow, and nil for other deaths.
func death(exit sandbox.Exit) *runtimes.ProgramError {
	if strings.Contains(exit.Stderr, "stack overflow") || strings.Contains(exit.Stderr, "stack exceeds") {
		return &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "The source is nested too deeply.", Remedy: "Reduce the nesting of brackets and expressions."}
	}
	return nil
}

// silent is the host of a bundler, which makes no host calls.
type silent struct{}

func (silent) Emit(runtimes.Event) {}

func (silent) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &runtimes.CallError{Code: "denied", Message: "Host calls are not available in the bundler."}
}
