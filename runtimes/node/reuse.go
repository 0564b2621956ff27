package node

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/node/guest"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// A process that serves the runs of one program is replaced after so many of them, or so long, and after any run that did
// not succeed.
const (
	reuseRuns = 1000
	reuseAge  = 10 * time.Minute
)

// Reused is what the level of a run adds that shared its process with other runs.
const Reused = ", reuse"

// lent are globals that lead to objects of the whole process which nobody can freeze, or that go on when the run is over. The
// guest script gives them out, and ends with the run that took one.
func lent() []string {
	return []string{
		"AbortController", "AbortSignal", "Blob", "Buffer", "Event", "EventTarget", "FinalizationRegistry", "FormData", "Headers", "Request",
		"Response", "TextDecoder", "TextEncoder", "URL", "URLSearchParams", "WebAssembly", "atob", "btoa", "waitAsync",
	}
}

// lasting finds programs that name what is lent, require as the bundler calls it, or fetch, which takes some of it.
func lasting() *regexp.Regexp {
	return regexp.MustCompile(`__require|\b(?:fetch|` + strings.Join(lent(), "|") + `)\b`)
}

// reusable says whether runs of a program may share a process. One that uses Node's modules may not, nor one that starts
// others: what they leave behind is not gone with a context.
func (e *Engine) reusable(job runtimes.Job, bundled guest.Program) bool {
	return job.Isolation == runtimes.Reuse && job.Workspace != "" && job.CodeDigest != "" && !job.Capabilities.Subprocess &&
		!e.lasting.MatchString(bundled.Code)
}

// sharing are the flags of a process whose runs share it: nothing that they have in common can be changed, and no code is
// made from text outside of their contexts.
func sharing() []string {
	return []string{"--frozen-intrinsics", "--disallow-code-generation-from-strings"}
}

// again runs a program in the process of its workspace's earlier runs, or in a new one. Files are not written: a program
// without Node's modules cannot read them.
func (e *Engine) again(ctx context.Context, job runtimes.Job, payload program.Job, brief []byte, host runtimes.Host) (runtimes.Outcome, error) {
	fresh := payload
	start := e.start(job.Limits.MemoryBytes)
	payload.Files, payload.Env, payload.Stay = nil, start.Env, true
	payload.Argv = append(slices.Insert(start.Argv, 1, sharing()...), "reuse")
	short := payload
	short.Argv, short.Env, short.Start = nil, nil, brief

	owned := job
	owned.Isolation = runtimes.Pooled
	owned.Workspace = fmt.Sprintf("%s %s %s %s %d", job.Workspace, job.CodeDigest, job.Language, job.Entrypoint, job.Limits.MemoryBytes)
	said := new(words)
	t := task(owned, payload, said)
	t.Program, t.Brief = owned.Workspace, short
	t.Fit = func(outcome runtimes.Outcome) bool { return outcome.Succeeded() && said.stays }
	outcome, err := e.shared.Run(ctx, t, host)
	if fault.Is(err, fault.SandboxUnavailable) && !errors.Is(err, worker.ErrLost) {
		return e.once(ctx, job, fresh, host) // the process ended while it waited; nothing of the program has run
	}
	if outcome.Level != "" {
		outcome.Level += Reused
	}
	return outcome, err
}
