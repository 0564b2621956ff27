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

// Bounds on single frames of a worker. A result has space for its wrapping, an error for its stack.
const (
	maxOutputFrame = 64 << 10
	maxCallFrame   = 1<<20 + 4<<10
	maxDoneExtra   = 1 << 20
	maxName        = 64
)

// maxNotes bounds how often a run may log or report its progress. Further notes get a reply but are dropped.
const maxNotes = 10_000

// maxStarted is the length of a number of microseconds.
const maxStarted = 20

// maxPrograms bounds the program names remembered for a worker. The worker forgets programs too.
const maxPrograms = 64

// peer is the connection with one worker. It outlives sessions, because the reader may hold bytes between them.
type peer struct {
	jail     Jail
	in       *bufio.Reader
	out      *frames.Writer
	programs map[string]bool // names of the programs sent so far
	jobSent  bool            // true once a job was sent
	spent    time.Duration   // processor time at the end of the last job
	endedAt  time.Time       // when that was
}

func newPeer(jail Jail) *peer {
	return &peer{jail: jail, programs: map[string]bool{}, in: bufio.NewReaderSize(jail.Conn(), 16<<10), out: frames.NewWriter(jail.Conn())}
}

// session is one run on one worker. The goroutine of run reads; the watch decides when to stop.
type session struct {
	*peer
	task   Task
	limits runtimes.Limits
	host   runtimes.Host
	output *output
	watch  *watch

	asked     time.Time // time of the request to the engine, for Usage.Start
	sent      time.Time // time when the job was sent, zero before
	brief     bool      // the job was sent without its program
	started   time.Time // time when the program started, zero before
	calls     int64     // number of calls in this run, for the IDs
	rate      callRateLimit
	notes     int64 // log and progress calls
	noteBytes int64
	parts     bytes.Buffer          // pieces of a result that the worker does not hold
	serving   chan error            // reports the end of the current call, nil if there is none
	endedBy   error                 // error of a worker that ended unexpectedly
	callErr   atomic.Pointer[error] // CallErr of the Outcome
}

func newSession(p *peer, task Task, host runtimes.Host, asked time.Time) *session {
	limits := task.Job.Limits
	return &session{peer: p, task: task, limits: limits, host: host, asked: asked, output: newOutput(host, limits.OutputBytes, task.Tap, task.LastStderr)}
}

// rested is the time between two jobs from which a worker may have prepared runs. It is a little work otherwise, and not
// worth a look at the processor time.
const rested = time.Millisecond

// run executes the job. It returns how the program ended and whether the worker can serve another run.
func (s *session) run(ctx context.Context) (outcome runtimes.Outcome, fit bool, err error) {
	before := s.spent
	if !s.jobSent || time.Since(s.endedAt) > rested { // what a worker does between jobs counts for none
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
		if s.started.IsZero() && s.task.Prompt && !s.watch.late() && !errors.Is(err, syscall.ECONNRESET) { // reset: it did not read the whole job
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
		return runtimes.Outcome{}, false, starved("The server ran out of memory and had to end the program, which was below its own limit. It may have had effects.", errors.Join(ErrLost, s.endedBy))
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

// converse sends the job and serves the worker until it sends Done. Any error means that the worker can no longer be
// used.
func (s *session) converse() (*frames.Result, error) {
	result, err := s.listen()
	if s.serving == nil {
		return result, err
	}
	s.watch.endCalls() // no receiver is left for its reply
	if unsaid := <-s.serving; unsaid != nil && (err != nil || errors.Is(unsaid, errPanic)) {
		return nil, unsaid // the error that ended the worker
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
				return nil, errors.New("read result: not the JSON of one")
			}
			result.Parts = s.parts.Bytes()
			return result, nil
		}
	}
}

// part stores one piece of a result. An empty piece drops the earlier ones.
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

// sendJob sends the job. If brief is set, it omits a program that the worker should have.
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

// since returns the start time of the program: now, or the reported time ago, but not before the job was sent.
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

// call begins to serve one host call. Its events come after all earlier output of the program. Slow calls run in the
// background, one at a time, because the program may have threads that print, and may end.
func (s *session) call(payload []byte) error {
	var call frames.Call
	if err := json.Unmarshal(payload, &call); err != nil {
		return errors.New("read call: not the JSON of one")
	}
	if s.calls++; call.ID != s.calls {
		return fmt.Errorf("call %d has another number", s.calls)
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
			s.jail.Kill() // the reader notices the end
		}
		serving <- err
	}()
	return nil
}

// rest delays a run that calls too often, until the run ends.
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

// errPanic reports a panic of the server during a call.
var errPanic = errors.New("panic in a host call")

// serve passes a call to the host. A panic may leave state broken, so it ends this run, but no other. The log gets the
// place and only Go's own panic texts, because other texts may repeat data of the program.
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

// served waits for the current call, which is of no more use when the worker is gone.
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

// note serves a call that takes no time.
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
		// The program gets no details of server errors. A server that cannot serve a call at all cancels ctx.
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
		return nil // the program ended during its call: the result or the end of the connection follows
	}
	return err
}

// neverStarted explains why the program did not start. The program did not cause that, but its limits may have.
func (s *session) neverStarted(ctx context.Context, cause error) (runtimes.Outcome, bool, error) {
	s.jail.Kill()
	exit := s.jail.Wait()
	if ctx.Err() != nil {
		return runtimes.Outcome{Error: reached(runtimes.Cancelled, s.limits)}, false, nil
	}
	for kind, hit := range map[runtimes.ErrorType]bool{runtimes.MemoryLimit: exit.Usage.OOMKilled, runtimes.ProcessLimit: exit.Usage.PidsLimited} {
		if hit { // limits too low even for the interpreter
			return runtimes.Outcome{Error: reached(kind, s.limits)}, false, nil
		}
	}
	if exit.Usage.Starved {
		return runtimes.Outcome{}, false, starved("The server has too little memory to start the program.", errors.Join(ErrNotStarted, s.ended(cause, exit)))
	}
	if s.watch.late() { // the watch has killed it
		cause = fmt.Errorf("the program did not start within %v", startDeadline)
	}
	return runtimes.Outcome{}, false, &fault.Error{
		Code:    fault.SandboxUnavailable,
		Message: "The sandbox could not start the program.",
		Err:     errors.Join(ErrNotStarted, accident(cause, exit), s.ended(cause, exit)),
	}
}

// errStarved is in the error of a run that the kernel ended because memory outside of its jail ran out.
var errStarved = errors.New("memory outside of the jail ran out")

// starvedRetry is when a client should repeat a run for which the server had no memory.
const starvedRetry = 5 * time.Second

func starved(message string, cause error) error {
	return &fault.Error{Code: fault.SandboxUnavailable, Message: message, RetryAfter: starvedRetry, Err: errors.Join(errStarved, cause)}
}

// errOrphaned is in the error of a worker that ended with its launcher, and errEnded in that of another worker that ended
// before its program began. In both cases nothing of the program was executed.
var (
	errOrphaned = errors.New("the launcher ended")
	errEnded    = errors.New("the worker ended before its program began")
)

// accident returns why a worker ended before its program began, nil if it is still there, or too slow.
func accident(cause error, exit sandbox.Exit) error {
	switch {
	case exit.Orphaned:
		return errOrphaned
	case hungUp(cause):
		return errEnded
	}
	return nil
}

// hungUp reports whether an error says that the connection with a worker has ended.
func hungUp(err error) bool {
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE}, func(end error) bool {
		return errors.Is(err, end)
	})
}

// ended returns an error for the log. After its first job, a worker knows data of programs, and its output may be
// theirs. So no such text is repeated, here and in causes.
func (p *peer) ended(cause error, exit sandbox.Exit) error {
	words := exit.Stderr
	if p.jobSent {
		words = exit.Summary()
	}
	return fmt.Errorf("worker ended: %w (signal %d, code %d): %s", cause, exit.Signal, exit.Code, words)
}

// ending holds all facts that are known at the end of a session.
type ending struct {
	result *frames.Result     // result of the worker, if it sent one
	cause  runtimes.ErrorType // why we ended the run, "" if we did not
	breach error              // reason for a missing result
	exit   *sandbox.Exit      // exit of a worker without a result
	usage  sandbox.Usage
}

// starved reports whether the program ended because the kernel killed a process to free memory that others use. A program
// that goes on without the process, or that reached a limit of its own, has its usual outcome.
func (e ending) starved(outcome runtimes.Outcome) bool {
	return e.usage.Starved && e.cause == "" && outcome.Error != nil && (outcome.Error.Type == runtimes.RuntimeError || outcome.Error.Type == runtimes.MemoryLimit)
}

// broke reports whether the worker violated the protocol, instead of ending.
func (e ending) broke() bool {
	return e.breach != nil && !hungUp(e.breach)
}
