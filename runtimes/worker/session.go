package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Maximum sizes of a worker's frames and of the names in them, in bytes. maxDoneExtra is for the parts of a Done frame
// other than the result: the other fields and the stack of an error.
const (
	maxOutputFrame = 64 << 10
	maxCallFrame   = 1<<20 + 4<<10
	maxDoneExtra   = 1 << 20
	maxName        = 64
)

// maxNotes is the maximum number of log and progress calls of a run. Further calls get a reply but are dropped.
const maxNotes = 10_000

// maxStarted is the maximum length of a Started frame, which contains a number of microseconds.
const maxStarted = 20

// maxPrograms is the maximum number of program names that are stored per worker. It is limited because a worker also
// keeps only some programs.
const maxPrograms = 64

// peer is the connection to one worker. All sessions of the worker use the same peer, because its reader may already
// have buffered bytes of the next session.
type peer struct {
	jail     Jail
	in       *bufio.Reader
	out      *frames.Writer
	programs map[string]bool // names of the programs that were sent to the worker
	jobSent  bool            // true after the first job was sent
	spent    time.Duration   // CPU time of the jail at the end of the last job
	endedAt  time.Time       // end of the last job
}

func newPeer(jail Jail) *peer {
	return &peer{jail: jail, programs: map[string]bool{}, in: bufio.NewReaderSize(jail.Conn(), 16<<10), out: frames.NewWriter(jail.Conn())}
}

// session is one run on one worker. The goroutine that calls the method run reads the worker's frames. The watch
// enforces time limits.
type session struct {
	*peer
	task   Task
	limits runtimes.Limits
	host   runtimes.Host
	output *output
	watch  *watch

	asked     time.Time // time of the request to the engine, for Usage.Start
	sent      time.Time // time at which the job was sent; zero before
	brief     bool      // true if the job was sent without its program
	started   time.Time // time at which the program started; zero before
	calls     int64     // number of calls in this run, which is the ID of the latest call
	rate      callRateLimit
	notes     int64 // number of log and progress calls
	noteBytes int64
	parts     bytes.Buffer          // pieces of a result that was sent in Part frames
	serving   chan error            // receives the end of the current call; nil if there is no call
	endedBy   error                 // error of a worker that ended unexpectedly
	callErr   atomic.Pointer[error] // first error of the server in a host call; becomes CallErr of the Outcome
}

func newSession(p *peer, task Task, host runtimes.Host, asked time.Time) *session {
	limits := task.Job.Limits
	return &session{peer: p, task: task, limits: limits, host: host, asked: asked, output: newOutput(host, limits.OutputBytes, task.Tap, task.LastStderr)}
}

// rested is a time between two jobs. If more time has passed, the worker may have worked in between, so its CPU time is
// read again. After a shorter time, reading it again would cost more than it is worth.
const rested = time.Millisecond

// run executes the job. It returns the way in which the program ended, and whether the worker can execute another run.
func (s *session) run(ctx context.Context) (outcome runtimes.Outcome, fit bool, err error) {
	before := s.spent
	if !s.jobSent || time.Since(s.endedAt) > rested { // CPU time that a worker used between jobs belongs to no job
		before = s.jail.CPU()
	}
	s.watch = startWatch(ctx, s.peer, s.limits, s.task.Grace, before)
	result, err := s.converse()
	s.watch.stop()
	s.output.close(err != nil || result.Signal != 0)

	end := ending{result: result, usage: s.jail.Usage(), cause: s.watch.cause()}
	if errors.Is(err, errPanic) {
		s.jail.Kill()
		return runtimes.Outcome{}, false, err
	}
	if err != nil {
		// ECONNRESET means that the worker ended before it had read the whole job.
		if s.started.IsZero() && s.task.Prompt && !s.watch.late() && !errors.Is(err, syscall.ECONNRESET) {
			s.started = s.sent
		}
		if end.cause == "" && s.started.IsZero() {
			return s.neverStarted(ctx, err)
		}
		s.jail.Kill()
		exit := s.jail.Wait()
		end.usage, end.exit, end.breach = exit.Usage, &exit, err
		if end.cause == "" {
			s.endedBy = s.ended(err, exit)
		}
		if exit.Orphaned && end.cause == "" {
			return runtimes.Outcome{}, false, &fault.Error{Code: fault.SandboxUnavailable, Message: "The sandbox lost contact with the program while it ran.", Err: errors.Join(ErrLost, s.endedBy)}
		}
	}
	finished := time.Now()
	s.spent, s.endedAt = end.usage.CPU, finished
	outcome = s.judge(end)
	if end.starved(outcome) {
		s.jail.Kill()
		return runtimes.Outcome{}, false, starved("The server ran out of memory and stopped the program, which was below its own memory limit. The program may have had side effects.", errors.Join(ErrLost, s.endedBy))
	}
	if err := s.callErr.Load(); err != nil {
		outcome.CallErr = *err
	}
	outcome.Usage = runtimes.Usage{CPU: max(0, end.usage.CPU-before), PeakMemory: end.usage.PeakMemory}
	if !s.started.IsZero() {
		outcome.Usage.Start, outcome.Usage.Run = s.started.Sub(s.asked), finished.Sub(s.started)
	}
	fit = err == nil && end.cause == "" && !end.usage.OOMKilled && !end.usage.Starved && s.in.Buffered() == 0
	return outcome, fit, nil
}

// converse sends the job. It handles the worker's frames until the worker sends Done. After an error the worker can no
// longer be used.
func (s *session) converse() (*frames.Result, error) {
	result, err := s.listen()
	if s.serving == nil {
		return result, err
	}
	s.watch.endCalls() // cancels the current call, because nobody reads the reply any longer
	if unsaid := <-s.serving; unsaid != nil && (err != nil || errors.Is(unsaid, errPanic)) {
		return nil, unsaid // stores the error that ended the worker
	}
	return result, err
}

func (s *session) listen() (*frames.Result, error) {
	if err := s.sendJob(s.programs[s.task.Program]); err != nil {
		return nil, err
	}
	in := frames.NewReader(s.in, map[frames.Kind]int{
		frames.Need:    0,
		frames.Started: maxStarted,
		frames.Stdout:  maxOutputFrame,
		frames.Stderr:  maxOutputFrame,
		frames.CallReq: maxCallFrame,
		frames.Part:    maxOutputFrame,
		frames.Done:    int(min(s.limits.OutputBytes+maxDoneExtra, frames.MaxFrame)),
	})
	for {
		kind, payload, err := in.Read()
		if err != nil {
			return nil, err
		}
		if kind == frames.Need {
			if !s.brief || !s.started.IsZero() {
				return nil, fmt.Errorf("%w: %q out of turn", frames.ErrKind, byte(kind))
			}
			if err := s.sendJob(false); err != nil {
				return nil, err
			}
			continue
		}
		if kind == frames.Started != s.started.IsZero() {
			return nil, fmt.Errorf("%w: %q out of turn", frames.ErrKind, byte(kind))
		}
		switch kind {
		case frames.Started:
			if s.started, err = s.since(payload); err != nil {
				return nil, err
			}
			s.watch.start()
		case frames.Stdout, frames.Stderr:
			if !s.output.write(kind, payload) {
				s.watch.end(runtimes.OutputLimit)
			}
		case frames.CallReq:
			if err := s.call(payload); err != nil {
				return nil, err
			}
		case frames.Part:
			if err := s.part(payload); err != nil {
				return nil, err
			}
		case frames.Done:
			result := new(frames.Result)
			if err := json.Unmarshal(payload, result); err != nil {
				return nil, errors.New("read result: invalid JSON")
			}
			result.Parts = s.parts.Bytes()
			return result, nil
		}
	}
}

// part stores one piece of a result. An empty piece discards the earlier pieces.
func (s *session) part(payload []byte) error {
	if int64(s.parts.Len()+len(payload)) > s.limits.OutputBytes+maxDoneExtra {
		return fmt.Errorf("%w: the pieces of a result", frames.ErrTooLarge)
	}
	if len(payload) == 0 {
		s.parts = bytes.Buffer{}
	}
	s.parts.Write(payload)
	return nil
}

// sendJob sends the job. If brief is true, it sends Task.Brief. Task.Brief lacks the program, which the worker already
// has.
func (s *session) sendJob(brief bool) error {
	payload := s.task.Payload
	if brief {
		payload = s.task.Brief
	} else if build, ok := payload.(func() any); ok {
		payload = build()
	}
	if s.task.Program != "" {
		if len(s.programs) >= maxPrograms {
			clear(s.programs)
		}
		s.programs[s.task.Program] = true
	}
	s.brief, s.jobSent = brief, true
	if err := s.out.WriteJSON(frames.Job, payload); err != nil {
		return fmt.Errorf("send job: %w", err)
	}
	s.sent = time.Now()
	return nil
}

// since returns the start time of the program. payload is the number of microseconds since the start; an empty payload
// means now. The start time is never earlier than the time at which the job was sent.
func (s *session) since(payload []byte) (time.Time, error) {
	now := time.Now()
	if len(payload) == 0 {
		return now, nil
	}
	micros, err := strconv.ParseUint(string(payload), 10, 32)
	if err != nil {
		return now, errors.New("read start: not a number of microseconds")
	}
	started := now.Add(-time.Duration(micros) * time.Microsecond)
	if started.Before(s.sent) {
		started = s.sent
	}
	return started, nil
}

// call starts to execute one host call. It first emits earlier output. Calls that may be slow are executed in the
// background, one at a time. Meanwhile other threads of the program may print, and the program may end.
func (s *session) call(payload []byte) error {
	var call frames.Call
	if err := json.Unmarshal(payload, &call); err != nil {
		return errors.New("read call: invalid JSON")
	}
	if s.calls++; call.ID != s.calls {
		return fmt.Errorf("call %d has a wrong ID", s.calls)
	}
	s.output.sync()
	s.rest(s.rate.spend(time.Now(), len(payload)))
	switch {
	case call.Name == "" || len(call.Name) > maxName:
		return s.reply(call, nil, &runtimes.CallError{Code: "invalid_arguments", Message: "A host function's name must have 1 to 64 bytes."})
	case len(call.Args) == 0 || string(call.Args) == "null":
		call.Args = json.RawMessage("{}")
	case !shallow(call.Args):
		return s.reply(call, nil, &runtimes.CallError{Code: "invalid_arguments", Message: fmt.Sprintf("The arguments of a host function must be nested at most %d levels deep.", maxDepth)})
	}
	if call.Name == "log" || call.Name == "progress" {
		return s.note(call)
	}
	if err := s.served(); err != nil {
		return err
	}
	serving := make(chan error, 1)
	s.serving = serving
	go func() {
		err := s.serve(call)
		if err != nil {
			s.jail.Kill() // an error means that the worker has ended, which the reader notices
		}
		serving <- err
	}()
	return nil
}

// rest delays the reply if a run makes too many calls. It returns early if the run ends.
func (s *session) rest(wait time.Duration) {
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.jail.Done():
	case <-s.watch.calls.Done():
	}
}

// errPanic is part of the error if the server panicked during a host call.
var errPanic = errors.New("panic in a host call")

// serve passes a call to the host and sends the reply. If the host panics, only this run ends with an error, not the
// server. The error contains the stack. It contains the panic value only if that is a Go runtime error. Other values
// may contain data of the program, which must not be logged.
func (s *session) serve(call frames.Call) (err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("%w: %w\n%s", errPanic, cause, debug.Stack())
		default:
			err = fmt.Errorf("%w: a %T\n%s", errPanic, cause, debug.Stack())
		}
	}()
	result, err := s.host.Call(s.watch.calls, call.Name, call.Args)
	return s.reply(call, result, err)
}

// served waits for the end of the current call, if there is one.
func (s *session) served() error {
	if s.serving == nil {
		return nil
	}
	serving := s.serving
	s.serving = nil
	select {
	case err := <-serving:
		return err
	case <-s.jail.Done():
		s.watch.endCalls()
		return <-serving
	}
}

// note executes a log or progress call. It does so at once and not in the background.
func (s *session) note(call frames.Call) error {
	s.notes++
	if s.notes > maxNotes || s.noteBytes+int64(len(call.Args)) > s.limits.OutputBytes {
		s.output.drop(len(call.Args))
		return s.reply(call, nil, nil)
	}
	s.noteBytes += int64(len(call.Args))
	return s.serve(call)
}

// reply replies to a call.
func (s *session) reply(call frames.Call, result json.RawMessage, err error) error {
	answer := frames.Answer{ID: call.ID, Tag: call.Tag}
	var refused *runtimes.CallError
	switch {
	case errors.As(err, &refused):
		answer.Error = refused
	case err != nil:
		// The program must not receive details of server errors.
		if first := err; s.watch.calls.Err() == nil {
			s.callErr.CompareAndSwap(nil, &first)
		}
		answer.Error = &runtimes.CallError{Code: "failed", Message: fmt.Sprintf("The host function %q failed.", call.Name)}
	case result == nil:
		answer.Result = json.RawMessage("null")
	default:
		answer.Result = result
	}
	err = s.out.WriteJSON(frames.Reply, answer)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return nil // the program ended during its call; afterwards converse reads the result or the end of the connection
	}
	return err
}

// neverStarted returns the outcome or the server error of a run whose program did not start. The cause cannot be the
// program. It can be limits of the run that are too low.
func (s *session) neverStarted(ctx context.Context, cause error) (runtimes.Outcome, bool, error) {
	s.jail.Kill()
	exit := s.jail.Wait()
	if ctx.Err() != nil {
		return runtimes.Outcome{Error: reached(runtimes.Cancelled, s.limits)}, false, nil
	}
	for kind, hit := range map[runtimes.ErrorType]bool{runtimes.MemoryLimit: exit.Usage.OOMKilled, runtimes.ProcessLimit: exit.Usage.PidsLimited} {
		if hit { // the limits are too low to start the interpreter
			return runtimes.Outcome{Error: reached(kind, s.limits)}, false, nil
		}
	}
	if exit.Usage.Starved {
		return runtimes.Outcome{}, false, starved("The server has too little memory to start the program.", errors.Join(ErrNotStarted, s.ended(cause, exit)))
	}
	if s.watch.late() { // the watch has killed the worker
		cause = fmt.Errorf("the program did not start within %v", startDeadline)
	}
	return runtimes.Outcome{}, false, &fault.Error{
		Code:    fault.SandboxUnavailable,
		Message: "The sandbox could not start the program.",
		Err:     errors.Join(ErrNotStarted, accident(cause, exit), s.ended(cause, exit)),
	}
}

// errStarved is part of the error if the kernel killed the program because the host or a parent control group ran out
// of memory.
var errStarved = errors.New("memory outside of the jail ran out")

// starvedRetry is the time after which a client should retry a run for which the host had no memory.
const starvedRetry = 5 * time.Second

func starved(message string, cause error) error {
	return &fault.Error{Code: fault.SandboxUnavailable, Message: message, RetryAfter: starvedRetry, Err: errors.Join(errStarved, cause)}
}

// Parts of the error of a worker that ended before its program began. errOrphaned means that the worker's launcher
// ended. errEnded means that only the worker ended. In both cases no code of the program was executed.
var (
	errOrphaned = errors.New("the launcher ended")
	errEnded    = errors.New("the worker ended before its program began")
)

// accident returns errOrphaned or errEnded for a worker that ended before its program began. It returns nil if the worker
// did not end by itself.
func accident(cause error, exit sandbox.Exit) error {
	switch {
	case exit.Orphaned:
		return errOrphaned
	case hungUp(cause):
		return errEnded
	}
	return nil
}

// hungUp reports whether an error means that the worker has closed its end of the connection.
func hungUp(err error) bool {
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE}, func(end error) bool {
		return errors.Is(err, end)
	})
}

// ended returns the error about a worker's end for the log. If the worker has received a job, its stderr may contain
// data of programs. In that case the error contains only a summary.
func (p *peer) ended(cause error, exit sandbox.Exit) error {
	words := exit.Stderr
	if p.jobSent {
		words = exit.Summary()
	}
	return fmt.Errorf("worker ended: %w (signal %d, code %d): %s", cause, exit.Signal, exit.Code, words)
}

// ending is the information from which judge determines the outcome of a session.
type ending struct {
	result *frames.Result     // result of the worker, if it sent one
	cause  runtimes.ErrorType // reason for which the server ended the run; "" if it did not
	breach error              // reason why there is no result
	exit   *sandbox.Exit      // exit of a worker that sent no result
	usage  sandbox.Usage
}

// starved reports whether the program failed because the host ran out of memory, and the kernel killed one of the
// program's processes. It returns false if the program continued without that process or reached its own memory limit;
// then the outcome of the program stays unchanged.
func (e ending) starved(outcome runtimes.Outcome) bool {
	return e.usage.Starved && e.cause == "" && outcome.Error != nil && (outcome.Error.Type == runtimes.RuntimeError || outcome.Error.Type == runtimes.MemoryLimit)
}

// broke reports whether the result is missing because the worker violated the protocol. It returns false if the worker
// ended.
func (e ending) broke() bool {
	return e.breach != nil && !hungUp(e.breach)
}
