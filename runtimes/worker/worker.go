// Package worker implements the server's side of the protocol with a jailed worker. It sends a job, reads the worker's
// frames as untrusted input, enforces limits, and determines the outcome of the run. Pool prepares workers in advance. The
// package is independent of programming languages.
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

// Jail contains the methods of sandbox.Jail that a session needs. It is an interface so that tests can simulate
// workers, including workers that violate the protocol.
type Jail interface {
	Conn() net.Conn
	Limit(runtimes.Limits) error
	ResetPeak()
	Usage() sandbox.Usage
	CPU() time.Duration // same as Usage().CPU
	Kill()
	Wait() sandbox.Exit
	Done() <-chan struct{}
	Network() net.Listener
}

// Jailer creates jails for a pool and reports their isolation level.
type Jailer interface {
	Prepare(ctx context.Context, profile sandbox.Profile) (Jail, error)
	Level() string
}

// FromSandbox returns a Jailer that creates jails in a sandbox.
func FromSandbox(s *sandbox.Sandbox) Jailer { return sandboxJailer{s} }

type sandboxJailer struct{ *sandbox.Sandbox }

func (s sandboxJailer) Prepare(ctx context.Context, profile sandbox.Profile) (Jail, error) {
	jail, err := s.Sandbox.Prepare(ctx, profile)
	if err != nil {
		return nil, err // returns nil explicitly, because an interface that contains a nil *Jail is not nil
	}
	return jail, nil
}

func (s sandboxJailer) Level() string { return s.Sandbox.Level().String() }

// Task is one run on a worker.
type Task struct {
	// Job contains the limits, the workspace, the isolation, and the files to whose names an error may refer.
	Job runtimes.Job
	// Payload is the contents of the Job frame for the worker: a value that is encoded as JSON, or a func() any that
	// returns such a value.
	Payload any
	// Program is a name of the program in Payload, or "". If a worker has already received a program with this name, it
	// gets Brief instead of Payload. If it no longer has the program, it sends Need.
	Program string
	Brief   any
	// Overhead is the memory, in bytes, that the engine itself needs for this program. It is added to the memory limit.
	Overhead int64
	// Prompt means that a worker starts the program as soon as it has read the job. A later failure is then attributed to
	// the program, even if the worker died before it sent Started.
	Prompt bool
	// Grace is the time between an Interrupt frame and the kill. If Grace is 0, the worker is killed without an Interrupt
	// frame.
	Grace time.Duration
	// Tap receives the raw bytes of stdout and stderr that are within the limit.
	Tap func(frames.Kind, []byte)
	// LastStderr is the start of the message that the interpreter writes to stderr when it aborts; "" if there is none.
	// From this text on, stderr is retained. It is shown only if the program did not die.
	LastStderr string
	// Interpret converts the worker's result before the result is checked. It is for engines whose workers report results
	// in another form.
	Interpret func(frames.Result) frames.Result
	// Unaware means that the program may not notice that it could not start a process. For example, a shell continues
	// without a background command. If the process limit was reached, the run of such a program fails even if the program
	// reports success.
	Unaware bool
	// Network starts the service for the program's outgoing connections on the listener in the program's jail. It returns
	// a function that stops the service and waits for its end. If Network is nil, the program has no network.
	Network func(net.Listener) (stop func())
	// Death returns the error for a worker that died although no kernel limit was reached. If it is nil or returns nil,
	// the session uses its own error.
	Death func(sandbox.Exit) *runtimes.ProgramError
}

// ErrLost is part of the error if the server lost the jail after the program had started. The run must not be repeated
// automatically, because the program may already have had effects.
var ErrLost = errors.New("the program had started")

// ErrNotStarted is part of the error if the worker did not start the program in time. It does not mean that other
// workers have a problem too.
var ErrNotStarted = errors.New("the program did not start")

// Run executes one task on a jail that waits for a job. No other run may use the jail meanwhile. Run returns an error
// only if the server failed. It kills the jail only if a limit is reached or the run is cancelled. In all other cases
// the caller must kill the jail, unless the caller trusts the code that ran.
func Run(ctx context.Context, jail Jail, task Task, host runtimes.Host) (runtimes.Outcome, error) {
	if ctx.Err() != nil { // otherwise a short program could succeed before the session notices the cancellation
		return runtimes.Outcome{Error: reached(runtimes.Cancelled, task.Job.Limits)}, nil
	}
	outcome, _, err := newSession(newPeer(jail), task, host, time.Now()).run(ctx)
	return outcome, err
}
