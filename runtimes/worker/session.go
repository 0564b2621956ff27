package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Bounds on single frames of a worker. A result has room for its wrapping, an error for its stack.
const (
	maxOutputFrame = 64 << 10
	maxCallFrame   = 1<<20 + 4<<10
	maxDoneExtra   = 1 << 20
	maxName        = 64
)

// maxNotes bounds how many times a run may log or tell its progress; more is answered and lost.
const maxNotes = 10_000

// maxStarted is the length of a number of microseconds.
const maxStarted = 20

// maxPrograms bounds how many names of programs are remembered for a worker. It forgets them too.
const maxPrograms = 64

// peer is the connection with one worker. It outlives sessions: the reader may hold bytes between them.
type peer struct {
	jail     Jail
	in       *bufio.Reader
	out      *frames.Writer
	programs map[string]bool // that were sent
	told     bool            // it was sent a job
	spent    time.Duration   // processor time when the last job was over
}

// newPeer makes the connection with a jail, of which in reads.
func newPeer(jail Jail, in io.Reader) *peer {
	return &peer{jail: jail, programs: map[string]bool{}, in: bufio.NewReaderSize(in, 16<<10), out: frames.NewWriter(jail.Conn())}
}

// session is one run on one worker. The goroutine of run reads; the watch decides when it is time to stop.
type session struct {
	*peer
	task   Task
	limits runtimes.Limits
	host   runtimes.Host
	output *output
	watch  *watch

	asked     time.Time // when the engine was asked to run, for Usage.Start
	sent      time.Time // when the worker had been given the job, zero before
	brief     bool      // the job went without its program
	started   time.Time // when the program started, zero before
	calls     int64     // of this run, for the IDs
	notes     int64     // log and progress calls
	noteBytes int64
	serving   chan error            // tells how the call went that is being served, nil for none
	endedBy   error                 // how a worker ended that was not ended by us
	callErr   atomic.Pointer[error] // of the Outcome
}

func newSession(p *peer, task Task, host runtimes.Host, asked time.Time) *session {
	limits := task.Job.Limits
	return &session{peer: p, task: task, limits: limits, host: host, asked: asked, output: newOutput(host, limits.OutputBytes, task.Tap, task.LastStderr)}
}

// run answers how the program ended and whether the worker is fit for another run.
func (s *session) run(ctx context.Context) (outcome runtimes.Outcome, fit bool, err error) {
	before := s.spent // what a worker does between jobs is of the next one
	if !s.told {
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
		if s.started.IsZero() && s.task.Prompt && !s.watch.late() {
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
	s.spent = end.usage.CPU
	outcome = s.judge(end)
	if err := s.callErr.Load(); err != nil {
		outcome.CallErr = *err
	}
	outcome.Usage = runtimes.Usage{CPU: max(0, end.usage.CPU-before), PeakMemory: end.usage.PeakMemory}
	if !s.started.IsZero() {
		outcome.Usage.Start, outcome.Usage.Run = s.started.Sub(s.asked), finished.Sub(s.started)
	}
	fit = err == nil && end.cause == "" && !end.usage.OOMKilled && s.in.Buffered() == 0
	return outcome, fit, nil
}

// converse sends the job and serves the worker until it says Done. Any error means that the worker is of no more use.
func (s *session) converse() (*frames.Result, error) {
	result, err := s.listen()
	if s.serving == nil {
		return result, err
	}
	s.watch.endCalls() // nobody waits for its answer
	if unsaid := <-s.serving; unsaid != nil && (err != nil || errors.Is(unsaid, errPanic)) {
		return nil, unsaid // which ended the worker
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
		case frames.Done:
			result := new(frames.Result)
			if err := json.Unmarshal(payload, result); err != nil {
				return nil, errors.New("read result: not the JSON of one")
			}
			return result, nil
		}
	}
}

// sendJob sends the job, in brief if the worker should have its program.
func (s *session) sendJob(brief bool) error {
	payload := s.task.Payload
	if brief {
		payload = s.task.Brief
	}
	if s.task.Program != "" {
		if len(s.programs) >= maxPrograms {
			clear(s.programs)
		}
		s.programs[s.task.Program] = true
	}
	s.brief, s.told = brief, true
	if err := s.out.WriteJSON(frames.Job, payload); err != nil {
		return fmt.Errorf("send job: %w", err)
	}
	s.sent = time.Now()
	return nil
}

// since reads when the program started: now, or so long ago, but not before it was sent.
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

// call begins to serve one host call. Its events come after everything that the program printed before it. What takes time
// is served beside what the program says meanwhile, one after the other: it may have threads that print, and may end.
func (s *session) call(payload []byte) error {
	var call frames.Call
	if err := json.Unmarshal(payload, &call); err != nil {
		return errors.New("read call: not the JSON of one")
	}
	if s.calls++; call.ID != s.calls {
		return fmt.Errorf("call %d has another number", s.calls)
	}
	s.output.sync()
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
			s.jail.Kill() // who reads finds out
		}
		serving <- err
	}()
	return nil
}

// errPanic is a panic of ours while we served a call.
var errPanic = errors.New("panic in a host call")

// serve has the host answer a call. What panics there may not be whole any more: it ends the run, and nothing else. The log
// has the place, and of the words only those of Go itself: others may repeat what the program said.
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

// served waits for the call that is being served, which has no more use when the worker is gone.
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

// reply answers a call.
func (s *session) reply(call frames.Call, result json.RawMessage, err error) error {
	answer := frames.Answer{ID: call.ID, Tag: call.Tag}
	var refused *runtimes.CallError
	switch {
	case errors.As(err, &refused):
		answer.Error = refused
	case err != nil:
		// What went wrong on our side is not for the program; a house that cannot serve a call at all ends ctx.
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
		return nil // the program ended beside its call: its result is on the way, or the end of the connection
	}
	return err
}

// neverStarted tells why the program did not even start. It had no part in that, but its limits may have.
func (s *session) neverStarted(ctx context.Context, cause error) (runtimes.Outcome, bool, error) {
	s.jail.Kill()
	exit := s.jail.Wait()
	if ctx.Err() != nil {
		return runtimes.Outcome{Error: reached(runtimes.Cancelled, s.limits)}, false, nil
	}
	for kind, hit := range map[runtimes.ErrorType]bool{runtimes.MemoryLimit: exit.Usage.OOMKilled, runtimes.ProcessLimit: exit.Usage.PidsLimited} {
		if hit { // limits so low that not even the interpreter fits
			return runtimes.Outcome{Error: reached(kind, s.limits)}, false, nil
		}
	}
	if s.watch.late() {
		cause = fmt.Errorf("no start within %v", startDeadline)
	}
	return runtimes.Outcome{}, false, &fault.Error{
		Code:    fault.SandboxUnavailable,
		Message: "The sandbox could not start the program.",
		Err:     errors.Join(ErrNotStarted, s.ended(cause, exit)),
	}
}

// ended is for the log. From its first job on a worker knows what programs know, and says perhaps what they made it say: of
// that nothing is repeated, here and in causes.
func (p *peer) ended(cause error, exit sandbox.Exit) error {
	words := exit.Stderr
	if p.told {
		words = exit.Summary()
	}
	return fmt.Errorf("worker ended: %w (signal %d, code %d): %s", cause, exit.Signal, exit.Code, words)
}

// ending is all that is known when a conversation is over.
type ending struct {
	result *frames.Result     // what the worker said, if it came to that
	cause  runtimes.ErrorType // why we ended the run, "" if we did not
	breach error              // why there is no result
	exit   *sandbox.Exit      // of a worker without a result
	usage  sandbox.Usage
}

// broke says whether the worker went against the protocol, rather than end.
func (e ending) broke() bool {
	return e.breach != nil && !errors.Is(e.breach, io.EOF) && !errors.Is(e.breach, io.ErrUnexpectedEOF)
}
