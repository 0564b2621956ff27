package bacalhau

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/elsewhere"
	"github.com/atelier-run/atelier/runtimes/parcel"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// maxTries is the number of failed executions after which the engine stops a job. Bacalhau executes a failing job twice
// on each node. Then it keeps the job until the job's time in the queue has passed.
const maxTries = 2

// maxPoll is the longest pause between two status requests for a job.
const maxPoll = 2 * time.Second

const (
	// maxSilent is how long status requests may fail before the run ends with an error.
	maxSilent = time.Minute
	// silence is how long the engine waits for Bacalhau to end a job whose time limit has passed.
	silence = 5 * time.Minute
)

// run is one run of a program, executed as one job.
type run struct {
	engine *Engine
	job    runtimes.Job
	host   runtimes.Host
	cancel context.CancelCauseFunc
	lent   []string // names of inputs in the depot
	// The job runs in an interpreter that is a WebAssembly module.
	interpreted bool

	mu      sync.Mutex // guards the fields below, and calls of the reader and the relay
	relay   *worker.Relay
	reader  *parcel.Reader // reads the output of a parcel; nil for a module
	stdout  bytes.Buffer   // stdout that was forwarded live; bounded by the limits of output and of marked lines
	stderr  bytes.Buffer
	started time.Time
	limit   *time.Timer
}

// time is the time limit of the program.
func (r *run) time() time.Duration { return time.Duration(r.job.Limits.TimeoutMs) * time.Millisecond }

// execute submits a job, follows the job to its end and reads its result. If execute returns before the job has ended,
// it stops the job.
func (r *run) execute(ctx context.Context) (outcome runtimes.Outcome, err error) {
	domains, denied := service.Hosts(r.job, r.engine.options.Ceiling(r.job.Workspace))
	if denied == nil {
		denied = service.Refuse(r.job)
	}
	if denied != nil {
		return runtimes.Outcome{Error: denied}, nil
	}
	began := time.Now()
	h, failed, err := r.begin(ctx, domains)
	if h.Name != "" {
		defer r.engine.Leave(h.Name)
	}
	defer func() {
		if !errors.Is(context.Cause(ctx), runtimes.ErrDetached) {
			r.takeBack(context.WithoutCancel(ctx))
		}
	}()
	if err != nil || failed != nil {
		return elsewhere.OrEmpty(failed), err
	}
	id, submitted, over := h.Job, h.At, false
	defer func() {
		if over || errors.Is(context.Cause(ctx), runtimes.ErrDetached) {
			return
		}
		stopping, stop := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
		defer stop()
		if err := r.engine.end(stopping, id, "the run has ended"); err != nil {
			r.engine.Log.Error("stop a job of Bacalhau", "job", id, "run_id", r.job.RunID, "error", err)
		}
	}()
	last, err := r.follow(ctx, id)
	over = last.Job.State.StateType.ended()
	r.mu.Lock()
	if r.limit != nil {
		r.limit.Stop()
	}
	if r.reader != nil {
		r.reader.Started = nil // the rest of the output is read from the result
	}
	start, gpu := r.started.Sub(began), time.Duration(0)
	if r.started.IsZero() {
		start = time.Since(began)
	}
	switch seen := !r.started.IsZero(); {
	case !r.job.GPU:
	case seen && r.job.Attach == "":
		gpu = time.Since(r.started)
	// The start of the program is unknown, so use the time since the submission, which is an upper bound.
	case seen, last.Job.State.StateType == completed:
		gpu = time.Since(submitted)
	}
	r.mu.Unlock()
	if err == nil {
		outcome, err = r.conclude(ctx, id, last)
	} else {
		outcome, err = r.explain(ctx, err)
	}
	outcome.Usage.Start, outcome.Usage.Remote, outcome.Usage.GPU = start, time.Since(submitted), gpu
	return outcome, err
}

// handle identifies a submitted job. A restarted server uses it to follow the job again.
type handle struct {
	Job  string    `json:"job"`
	Name string    `json:"name"`
	Mark string    `json:"mark"` // mark of the parcel's output lines, "" for a module
	At   time.Time `json:"at"`
	Lent []string  `json:"lent,omitempty"` // names of inputs in the depot
	// Interpreted is true if the job runs in an interpreter that is a WebAssembly module.
	Interpreted bool `json:"interpreted,omitempty"`
}

// begin submits a job and returns its handle. If the job was submitted before a restart, begin returns the handle in
// Job.Attach. If the program cannot run as a job, begin returns the outcome of the run in failed.
func (r *run) begin(ctx context.Context, domains []string) (h handle, failed *runtimes.Outcome, err error) {
	if r.job.Attach != "" {
		if err := json.Unmarshal([]byte(r.job.Attach), &h); err != nil {
			return h, nil, fmt.Errorf("the handle of a job of Bacalhau: %w", err)
		}
		r.engine.Enter(h.Name)
		if r.engine.depot != nil {
			r.lent = h.Lent
		}
		r.interpreted = h.Interpreted
		if h.Mark != "" {
			r.reader = parcel.Resume(r.job, h.Mark).Read(r.relay, r.host)
		}
		return h, nil, nil
	}
	h.Name = "atelier-" + strings.ToLower(r.job.RunID+"-"+rand.Text()[:8])
	r.interpreted = r.engine.suitsModule(r.job)
	spec, mark, failed, err := r.describe(ctx, h.Name, domains)
	if err != nil && ctx.Err() != nil {
		outcome := r.relay.Reached(runtimes.Cancelled)
		return handle{}, &outcome, nil
	}
	if err != nil || failed != nil {
		return handle{}, failed, err
	}
	h.Mark, h.At, h.Lent, h.Interpreted = mark, time.Now(), r.lent, r.interpreted
	r.engine.Enter(h.Name)
	// The request is not cancelled together with the run. Otherwise Bacalhau could create a job whose ID this server never
	// receives.
	if h.Job, err = r.engine.submit(context.WithoutCancel(ctx), spec); err != nil {
		if ctx.Err() != nil {
			outcome := r.relay.Reached(runtimes.Cancelled)
			return h, &outcome, nil
		}
		return h, nil, refused(err)
	}
	if store, ok := r.host.(runtimes.JobStore); ok {
		if text, err := json.Marshal(h); err == nil { // marshaling strings and a time never fails
			store.StoreJob(context.WithoutCancel(ctx), string(text))
		}
	}
	return h, nil, nil
}

// Reasons why a job has no result.
var (
	errNotStarted = errors.New("the job did not start")
	errGone       = errors.New("Bacalhau does not answer")
	errUnknown    = errors.New("Bacalhau does not know the job")
	errLate       = errors.New("the job did not end in time")
)

// follow requests the state of a job until the job has ended, with growing pauses. Meanwhile it forwards live output.
func (r *run) follow(ctx context.Context, id string) (last view, err error) {
	var logs sync.WaitGroup
	logging, stop := context.WithCancel(ctx)
	defer logs.Wait()
	defer stop()
	submitted, answered, pause, following := time.Now(), time.Now(), r.engine.options.Poll, false
	for {
		if ctx.Err() != nil {
			return last, context.Cause(ctx)
		}
		now, err := r.engine.look(ctx, id)
		switch {
		case err == nil:
			last, answered = now, time.Now()
		case ctx.Err() != nil:
			return last, context.Cause(ctx)
		case elsewhere.StatusOf(err) == elsewhere.Absent:
			return last, errUnknown
		case time.Since(answered) > maxSilent: // only the log contains err, because err contains the orchestrator's address
			r.engine.Log.Warn("read the state of a job of Bacalhau", "job", id, "run_id", r.job.RunID, "error", err)
			return last, errGone
		}
		state, tries, at := last.Job.State.StateType, 0, ""
		var ended error
		for _, one := range last.Executions.Items {
			switch one.ComputeState.StateType {
			case bidAccepted, executionRunning, publishing, executionComplete:
				at = one.ID
			case executionFailed:
				tries++
				ended = cmp.Or(ended, r.programEnded(one.ComputeState.Message))
			}
		}
		switch {
		case state == completed:
			return last, nil
		case ended != nil: // do not wait for the second try: the program would end in the same way again
			return last, ended
		case state.ended(), tries >= maxTries, at == "" && time.Since(submitted) > r.engine.options.Queued:
			return last, fmt.Errorf("%w%s", errNotStarted, reason(last))
		case at != "" && !following:
			following = true
			r.runs()
			// Not for modules: nodes lose parts of their live output, so their output is read from the result.
			if !r.isModule() {
				logs.Go(func() { r.logs(logging, id) })
			}
			pause = r.engine.options.Poll
		}
		if !elsewhere.Pause(ctx, pause) {
			return last, context.Cause(ctx)
		}
		pause = min(pause*3/2, maxPoll)
	}
}

// programError describes the end of a program that Bacalhau reports as a failed execution.
type programError struct{ runtimes.ProgramError }

func (e *programError) Error() string { return e.Message }

// programEnded derives how a program ended from the message of a failed execution. It returns nil if the node did not
// execute the program.
func (r *run) programEnded(message string) error {
	// The message "Execution timed out." is different: it comes from the orchestrator, which also counts the time in the
	// node's queue.
	if strings.HasPrefix(message, "Execution timed out after") {
		return errTime
	}
	if !r.isModule() {
		return nil
	}
	what, remedy := "module", ""
	if r.interpreted {
		what, remedy = "Python interpreter", fmt.Sprintf("Raise limits.memoryBytes (now %s).", bytesize.Text(r.job.Limits.MemoryBytes))
	}
	trap, stack, _ := strings.Cut(message, "\nwasm stack trace:\n")
	trap, trapped := strings.CutPrefix(trap, "wasm error: ")
	switch {
	case strings.HasPrefix(trap, "stack overflow"):
		return &programError{runtimes.ProgramError{Type: runtimes.RecursionLimit, Message: "The program's calls are nested too deeply.", Remedy: "Reduce the nesting of calls."}}
	case trapped:
		return &programError{runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The " + what + " was stopped: " + trap + ".", Stack: strings.ReplaceAll(stack, "\t", "")}}
	case strings.Contains(message, "section memory: min ") && strings.Contains(message, " over limit of "):
		return &programError{runtimes.ProgramError{Type: runtimes.MemoryLimit, Message: fmt.Sprintf("The %s exceeded its memory limit of %s.", what, bytesize.Text(r.job.Limits.MemoryBytes)), Remedy: remedy}}
	}
	return nil
}

// reason returns the cause of a missing result: the message of the last failed execution, otherwise the message of the
// job.
func reason(v view) string {
	text := v.Job.State.Message
	for _, one := range v.Executions.Items {
		if state := one.ComputeState; state.Message != "" && (state.StateType == executionFailed || state.StateType == bidRejected || state.StateType == bidRejectedEarly) {
			text = state.Message
		}
	}
	if text == "" {
		return ""
	}
	const most = 500
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text[:min(len(text), most)], "\uFFFD")), " ")
	return ": " + strings.TrimRight(text, ". ")
}

// runs records that a node has accepted the job. The node may execute the job later, after other jobs, and Bacalhau
// does not report when. So until an interpreter prints that the program starts, only the node applies the time limit.
func (r *run) runs() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = time.Now()
	if r.reader != nil {
		r.reader.Started = func() { // a write to the reader calls this function, with r.mu locked
			r.started = time.Now()
			r.limit.Stop()
			r.limit = time.AfterFunc(r.time(), func() { r.cancel(errTime) })
		}
	}
	r.limit = time.AfterFunc(r.executing()+r.engine.options.Queued+silence, func() { r.cancel(errLate) })
}

// print forwards output. It returns false when the output limit is exceeded.
func (r *run) print(ctx context.Context, stderr bool, text []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	within := false
	switch {
	case stderr && r.reader != nil:
		within = r.reader.Stderr(text)
	case stderr:
		within = r.relay.Stderr(text)
	case r.reader != nil:
		within = r.reader.Stdout(ctx, text)
	default:
		within = r.relay.Stdout(text)
	}
	if stderr {
		r.stderr.Write(text)
	} else {
		r.stdout.Write(text)
	}
	if !within {
		r.cancel(errOver)
	}
	return within
}

// explain converts the reason for a missing result to an outcome, or to an error if the program did not start.
func (r *run) explain(ctx context.Context, err error) (runtimes.Outcome, error) {
	r.mu.Lock()
	ran := !r.started.IsZero() || r.job.Attach != ""
	r.mu.Unlock()
	var ended *programError
	switch {
	case errors.Is(err, errOver):
		return r.relay.Reached(runtimes.OutputLimit), nil
	case errors.Is(err, errTime):
		return r.relay.Reached(runtimes.Timeout), nil
	case errors.As(err, &ended):
		return r.relay.Failed(ended.ProgramError), nil
	case ctx.Err() != nil && !errors.Is(err, errLate):
		return r.relay.Reached(runtimes.Cancelled), nil
	case ran:
		why := strings.TrimPrefix(": "+err.Error(), ": "+errNotStarted.Error())
		return runtimes.Outcome{Error: &runtimes.ProgramError{Type: runtimes.Interrupted, Message: "Bacalhau did not execute the program completely" + why + ".", Remedy: "Run it again."}}, nil
	}
	return runtimes.Outcome{}, &fault.Error{Code: fault.RuntimeUnavailable, Message: "The program was not started by Bacalhau: " + err.Error() + ".", Err: err, RetryAfter: 10 * time.Second}
}

// conclude reads the result of a completed job. Unlike the live output, the output in the result is complete.
func (r *run) conclude(ctx context.Context, id string, last view) (runtimes.Outcome, error) {
	var found result
	var exit *int
	place := ""
	for _, one := range last.Executions.Items {
		if one.ComputeState.StateType != executionComplete {
			continue
		}
		place = cmp.Or(one.PublishedResult.address(), place)
		if one.RunOutput != nil {
			code := one.RunOutput.ExitCode
			exit = &code
		}
	}
	reading, stop := context.WithTimeout(ctx, resultWithin)
	defer stop()
	var err error
	if place == "" {
		place, err = r.engine.results(reading, id)
	}
	if err == nil {
		found, err = r.engine.download(reading, place, r.job.Limits)
	}
	switch {
	case ctx.Err() != nil:
		return r.explain(ctx, context.Cause(ctx))
	case errors.Is(err, errLarge):
		return r.relay.TooLarge(), nil
	case err != nil:
		r.engine.Log.Warn("read a result of Bacalhau", "job", id, "run_id", r.job.RunID, "error", err)
		return runtimes.Outcome{Error: &runtimes.ProgramError{Type: runtimes.Interrupted, Message: "The program ended, but its result could not be read from Bacalhau.", Remedy: "Check the publisher that the nodes use, then run the program again."}}, nil
	}
	if found.exit != nil {
		exit = found.exit
	}
	if exit != nil && *exit == -1 { // the module returned without an exit code
		*exit = 0
	}
	r.rest(ctx, false, found.stdout, &r.stdout)
	r.rest(ctx, true, found.stderr, &r.stderr)
	if context.Cause(ctx) == errOver { //nolint:errorlint // the cause is never wrapped
		return r.relay.Reached(runtimes.OutputLimit), nil
	}
	if r.reader != nil {
		return r.reader.Outcome(found.output, exit), nil
	}
	return r.printed(found.stdout, exit), nil
}

// rest forwards the part of all that was not forwarded live.
func (r *run) rest(ctx context.Context, stderr bool, all []byte, live *bytes.Buffer) {
	r.mu.Lock()
	seen := live.Bytes()
	same := 0
	for same < len(seen) && same < len(all) && seen[same] == all[same] {
		same++
	}
	r.mu.Unlock()
	if same < len(all) {
		r.print(ctx, stderr, all[same:])
	}
}

// printed returns the outcome of a module. The module's result is the JSON value that it printed on stdout, as in the
// runtime wasm.
func (r *run) printed(stdout []byte, exit *int) runtimes.Outcome {
	text := bytes.TrimSpace(stdout)
	var outcome runtimes.Outcome
	switch {
	case exit != nil && *exit != 0:
		outcome = r.relay.Failed(runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The module exited with code %d.", *exit)})
	case len(text) == 0:
		outcome = r.relay.Succeeded(json.RawMessage("null"))
	case !json.Valid(text):
		outcome = r.relay.Failed(runtimes.ProgramError{
			Type: runtimes.InvalidOutput, Message: "output: stdout must be exactly one JSON value.", Remedy: "Print the output as JSON on stdout, and everything else on stderr.",
		})
	default:
		outcome = r.relay.Succeeded(text)
	}
	outcome.ExitCode = exit
	return outcome
}
