// Package worker is the server's half of a conversation with a jailed worker: it sends a job, reads what comes back as
// hostile input, keeps the limits, and decides how the run ended. Pool keeps prepared workers. The package knows frames
// and jails; what a program is, or a language, it does not know.
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

// Jail is what a session needs of a jailed process tree. It is an interface so that the protocol can be tested with a
// peer in the same process, where every kind of misbehaviour can be staged.
type Jail interface {
	Conn() net.Conn
	Limit(runtimes.Limits) error
	ResetPeak()
	Usage() sandbox.Usage
	CPU() time.Duration // of Usage
	Kill()
	Wait() sandbox.Exit
	Done() <-chan struct{}
	Network() net.Listener
}

// Jailer makes jails for a pool and says how strict they are.
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
	// Job gives limits, workspace, isolation and the names of the files that an error may point into.
	Job runtimes.Job
	// Payload is what the worker reads in its Job frame, as JSON.
	Payload any
	// Program names the program in Payload, "" if it has no name. A worker that was sent it before is sent Brief instead,
	// and says Need if it has forgotten the program.
	Program string
	Brief   any
	// Overhead is the memory that the engine takes for itself to run this program, on top of the program's limit.
	Overhead int64
	// Prompt says that a worker starts the program as soon as it reads the job, so whatever goes wrong then is the
	// program's doing: its Started may come late, and not at all from a worker that dies.
	Prompt bool
	// Grace is the time between an Interrupt frame and the kill. 0 kills at once and sends no Interrupt.
	Grace time.Duration
	// Tap sees the raw bytes of stdout and stderr that are within the limit.
	Tap func(frames.Kind, []byte)
	// LastStderr begins what the interpreter itself says on stderr when it gives up, "" for nothing. From there on stderr is
	// held back, and shown only if the program did not die of it.
	LastStderr string
	// Interpret turns what the worker said into what the engine means by it, before anything of it is checked.
	Interpret func(frames.Result) frames.Result
	// Unaware says that the program is not told when a process could not be started: a shell goes on without the command
	// that it put in the background. The success of such a program means nothing once the process limit was reached.
	Unaware bool
	// Network serves the program's way out while it runs, on the listener in its jail; nil for programs without one. It
	// answers a function that ends that and waits.
	Network func(net.Listener) (stop func())
	// Death explains a worker that died without a kernel limit. A nil answer leaves it to the session.
	Death func(sandbox.Exit) *runtimes.ProgramError
}

// ErrLost is in the error of a run whose program had started when the house lost its jail: running it again could do a
// second time what it did.
var ErrLost = errors.New("the program had started")

// ErrNotStarted is in the error of a run that was given a worker whose program never started. It says nothing about other
// workers: what was slow may have been this run's alone.
var ErrNotStarted = errors.New("the program did not start")

// Run carries out one task on a jail that waits for a job and belongs to nobody else meanwhile. It answers an error only
// when the house failed. Whatever the answer is, a jail that ran anything but well behaved code has to be killed: Run
// leaves that to the caller, except that it kills at once when a limit is reached.
func Run(ctx context.Context, jail Jail, task Task, host runtimes.Host) (runtimes.Outcome, error) {
	outcome, _, err := newSession(newPeer(jail, jail.Conn()), task, host, time.Now()).run(ctx)
	return outcome, err
}
