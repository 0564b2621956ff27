// Package worker is the server's side of the protocol with a jailed worker. It sends a job, reads replies as hostile
// input, enforces the limits, and decides how the run ended. Pool keeps prepared workers. The package knows frames and
// jails, but no programs or languages.
package worker

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Jail holds the methods of a jailed process tree that a session needs. It is an interface so that tests of the
// protocol can use a peer in the same process and simulate any misbehaviour.
type Jail interface {
	Conn() net.Conn
	Limit(runtimes.Limits) error
	ResetPeak()
	Usage() sandbox.Usage
	CPU() time.Duration // CPU time of Usage
	Kill()
	Wait() sandbox.Exit
	Done() <-chan struct{}
	Network() net.Listener
}

// Jailer makes jails for a pool and reports their isolation level.
type Jailer interface {
	Prepare(ctx context.Context, profile sandbox.Profile) (Jail, error)
	Level() string
}

// FromSandbox returns the jailer of a real sandbox.
func FromSandbox(s *sandbox.Sandbox) Jailer { return sandboxJailer{s} }

type sandboxJailer struct{ *sandbox.Sandbox }

func (s sandboxJailer) Prepare(ctx context.Context, profile sandbox.Profile) (Jail, error) {
	jail, err := s.Sandbox.Prepare(ctx, profile)
	if err != nil {
		return nil, err // not jail: a nil *Jail in an interface is not nil
	}
	return jail, nil
}

func (s sandboxJailer) Level() string { return s.Sandbox.Level().String() }

// Task is one run on a worker.
type Task struct {
	// Job holds limits, workspace, isolation and the names of the files that an error may point into.
	Job runtimes.Job
	// Payload is the contents of the Job frame for the worker, as JSON, or a func() any that returns them.
	Payload any
	// Program names the program in Payload, "" if it has no name. A worker that already received the program gets Brief
	// instead, and sends Need if it has forgotten the program.
	Program string
	Brief   any
	// Overhead is the memory that the engine itself needs to run this program, on top of the program's limit.
	Overhead int64
	// Prompt means that a worker starts the program as soon as it reads the job. The program causes any failure after
	// that. Started may come late, or not at all from a worker that dies.
	Prompt bool
	// Grace is the time between an Interrupt frame and the kill. 0 kills at once and sends no Interrupt.
	Grace time.Duration
	// Tap receives the raw bytes of stdout and stderr that are within the limit.
	Tap func(frames.Kind, []byte)
	// LastStderr is the start of the interpreter's own message on stderr when it aborts, "" for none. From there on
	// stderr is held back, and shown only if the program did not die of it.
	LastStderr string
	// Interpret translates the worker's result into the engine's terms, before any check of it.
	Interpret func(frames.Result) frames.Result
	// Unaware means that the program does not learn of a failed process start. For example, a shell continues without
	// its background command. Success of such a program is not trusted once the process limit was reached.
	Unaware bool
	// Network serves the program's way out while it runs, on the listener in its jail; nil for programs without one. It
	// returns a function that stops the service and waits for its end.
	Network func(net.Listener) (stop func())
	// Death explains a worker that died without a kernel limit. If it returns nil, the session explains the death.
	Death func(sandbox.Exit) *runtimes.ProgramError
}

// ErrLost is in the error of a run whose program had started when the server lost its jail. Another run could repeat
// its effects.
var ErrLost = errors.New("the program had started")

// ErrNotStarted is in the error of a run whose worker never started the program. It is no sign of a problem with other
// workers, because the delay may have concerned only this run.
var ErrNotStarted = errors.New("the program did not start")

// Run executes one task on a jail that waits for a job and is not shared meanwhile. It returns an error only if the
// server failed. The caller must kill the jail unless it ran only well-behaved code. Run itself kills it only when a
// limit is reached.
func Run(ctx context.Context, jail Jail, task Task, host runtimes.Host) (runtimes.Outcome, error) {
	outcome, _, err := newSession(newPeer(jail), task, host, time.Now()).run(ctx)
	return outcome, err
}
