package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/atelier-run/atelier/internal/budget"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/router"
	"github.com/atelier-run/atelier/runtimes/worker"
	"github.com/atelier-run/atelier/studio/budgets"
	"github.com/atelier-run/atelier/studio/projects"
	"github.com/atelier-run/atelier/studio/quotas"
	"github.com/atelier-run/atelier/studio/recorder"
	"github.com/atelier-run/atelier/studio/secrets"
)

const (
	// beginAfter is the age at which a run is recorded as running. A shorter run is recorded only once, at its end,
	// because no caller knows its ID before.
	beginAfter = 50 * time.Millisecond
	// flushEvery is the interval at which the events of a long run are stored.
	flushEvery = 250 * time.Millisecond
)

// execution is one run from admission to its end. Only the goroutine of execute changes it. Other goroutines read it
// through snapshot, recording and done.
type execution struct {
	service      *Service
	ctx          context.Context // ends when the run is cancelled or interrupted; its cause states which of the two
	cancel       context.CancelCauseFunc
	place        quotas.Place
	unrecorded   budgets.Place
	ticket       *router.Ticket
	recording    *recorder.Recording
	given        secrets.Given
	of           registry.Version
	spec         registry.Spec
	redactor     *redact.Redactor // nil if the run has no secrets
	job          runtimes.Job
	outputSchema json.RawMessage
	reservation  *budget.Reservation
	release      func() // releases the memory that was reserved for the run
	family       *family
	depth        int                                // number of runs that wait for this one
	denied       atomic.Pointer[runtimes.CallError] // the last denied call of an agent, of the language model, or of a file function
	files        *projects.Session                  // nil if the program may not read the files of a project
	fileCalls    atomic.Int64
	egress       atomic.Int64 // bytes transferred between the program and other hosts
	private      bool         // whether the record contains only digests of the run's values
	request      *saved       // the request with which a restarted server can continue the run; nil if the run cannot be continued
	flushing     sync.Mutex
	attached     atomic.Bool // whether the handle of a remote job, or the state of a waiting program, is stored
	caller       string      // ID of the actor that started the run
	hidden       []string    // secrets of this run and of the runs that wait for this one
	created      time.Time   // time of creation; it contains a monotonic clock reading, for measuring durations
	began        time.Time   // time when this server started the program
	span         trace.Span
	done         chan struct{}    // closed when run and err are final
	followed     atomic.Int64     // time in Unix nanoseconds until which another server follows the run
	late         bool             // whether the record waits for the database; used only by the goroutine of execute
	shown        registry.Status  // status in the stored record; used only by the goroutine that flushes
	epoch        int64            // epoch of this server when the status was stored; used only by the goroutine that flushes
	flushed      int64            // size in bytes of the events that were stored during the run
	unstored     []runtimes.Event // events that Drain returned but the journal rejected; used by the flushes, and afterwards by finish

	mu  sync.Mutex // guards run until done is closed
	run registry.Run
	err error
}

// snapshot returns the current state of the run.
func (l *execution) snapshot() registry.Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	run := l.run
	if !run.Status.Final() {
		run.Stdout, run.Stderr, run.Truncated = l.recording.Output()
	}
	return run
}

func (l *execution) update(change func(run *registry.Run)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.run)
}

// abandon releases the resources of a run that was admitted but not started.
func (l *execution) abandon() {
	l.place.Back()
	l.unrecorded.Done()
	l.ticket.Release()
	l.cancel(errCancelled)
	l.release()
	l.span.End()
}

// execute performs the run, from waiting in the queue to storing the final record.
func (l *execution) execute() {
	defer close(l.done)
	defer l.release()
	defer l.span.End()
	flushed := l.flushInBackground()
	outcome, err := l.perform()
	flushed()
	defer l.returnSlot(outcome)()
	l.finish(outcome, err)
}

// maxEarly is the maximum number of runs with small outputs that may have returned their slots and still wait for their
// records. A run with a large output keeps its slot until it is recorded. This limits how many large outputs are in
// memory.
const maxEarly = 64

// returnSlot returns the slot of a run whose program has ended. For a small output it returns the slot at once, so that
// the next program need not wait for the disk. Otherwise the function recorded returns the slot; the caller calls it
// when the run is recorded.
func (l *execution) returnSlot(outcome runtimes.Outcome) (recorded func()) {
	early := &l.service.early
	if l.bytesOf(outcome) > smallBytes {
		return l.ticket.Release
	}
	if early.Add(1) > maxEarly {
		early.Add(-1)
		return l.ticket.Release
	}
	l.ticket.Release()
	return func() { early.Add(-1) }
}

// bytesOf returns the size in memory of a run's output and events, in bytes.
func (l *execution) bytesOf(outcome runtimes.Outcome) int64 {
	return int64(len(outcome.Output)) + l.recording.Bytes()
}

// perform waits in the queue and executes the program.
func (l *execution) perform() (outcome runtimes.Outcome, err error) {
	defer l.cancel(nil)
	running := false
	defer func() { // If the run was cancelled before its program started, the error of an earlier step may be the cancellation.
		if !running && errors.Is(err, context.Canceled) && l.ctx.Err() != nil {
			outcome, err = runtimes.Failed(runtimes.Cancelled, "The run was cancelled before its program started."), nil
		}
	}()
	s := l.service
	entered := s.Now()
	_, queue := s.step(l.ctx, "queue")
	err = l.ticket.Wait(l.ctx, func(at router.Position) {
		l.emit(runtimes.KindStatus, runtimes.StatusData{Status: string(registry.Queued), Position: at.At, ExpectedWaitMs: at.Expected.Milliseconds()})
	})
	queue.End()
	started := s.Now()
	l.update(func(run *registry.Run) { run.Metrics.QueuedMs = ms(started.Sub(entered)) })
	if err != nil {
		return runtimes.Failed(runtimes.Cancelled, "The run was cancelled while it waited in the queue."), nil
	}
	if err := l.recordable(); err != nil { // Check again: the database may have failed while the run was in the queue.
		return runtimes.Outcome{}, err
	}
	if len(l.given.Values) > 0 {
		if err := s.Secrets.Used(l.ctx, l.given, l.snapshot()); err != nil { // If the use of a secret cannot be recorded, the program does not get the secret.
			return runtimes.Outcome{}, err
		}
	}
	installed, failed, err := l.packages()
	if failed != nil || err != nil {
		return runtimes.Outcome{Error: failed}, err
	}
	defer installed()
	if failed, err = l.openFiles(l.ctx); failed != nil || err != nil {
		return runtimes.Outcome{Error: failed}, err
	}
	l.began = s.Now()
	startedAt := stamp(l.began)
	l.update(func(run *registry.Run) {
		if run.Status = registry.Running; run.StartedAt == nil { // A continued run keeps the time of its first start.
			run.StartedAt = &startedAt
		}
	})
	l.emit(runtimes.KindStatus, runtimes.StatusData{Status: string(registry.Running)})
	ctx, span := s.step(l.ctx, "run")
	defer span.End()
	running = true
	return s.Router.Run(ctx, l.job, host{l})
}

// kafkaPatience is how long the run of a Kafka request waits for the database before the program starts. During this
// time the consumer waits too, because an error would be the final answer to the request.
const kafkaPatience = time.Minute

// beginKeyed stores the run's ID with its idempotency key, and for a key of the HTTP API also the run. If the connection
// fails, the transaction may still have been committed. So for a Kafka request the key is stored again, for at most
// kafkaPatience. If that fails too, a repeated request finds a run without a record and reports it as interrupted.
func (l *execution) beginKeyed(ctx context.Context, req Request) error {
	began := time.Now()
	for {
		var err error
		if req.once != nil { // most runs end within beginAfter, so their records are written once
			err = req.keys.ReserveRun(ctx, l.run.ID, *req.once)
		} else {
			err = l.service.Journal.BeginRun(req.keyed(ctx), l.recordOf(l.run))
		}
		if !fault.Is(err, fault.StorageUnavailable) || l.run.Trigger != registry.TriggerKafka || time.Since(began) > kafkaPatience {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-l.ctx.Done():
			return err
		}
		if l.recordable() != nil {
			return err
		}
	}
}

// recordable returns an error if the run cannot be recorded now. For a Kafka request it first waits up to
// kafkaPatience.
func (l *execution) recordable() error {
	err := l.service.Journal.Ready()
	if err == nil || l.snapshot().Trigger != registry.TriggerKafka {
		return err
	}
	patience := time.NewTimer(kafkaPatience)
	defer patience.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for err != nil {
		select {
		case <-tick.C:
			err = l.service.Journal.Ready()
		case <-patience.C:
			return err
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
	}
	return nil
}

// flushInBackground stores a run that lasts longer than beginAfter while it runs, together with its events. stop ends
// the storing and waits until the goroutine has ended.
func (l *execution) flushInBackground() (stop func()) {
	ended, joined := make(chan struct{}), make(chan struct{})
	timer := time.AfterFunc(beginAfter, func() {
		defer close(joined)
		l.flushUntil(context.WithoutCancel(l.ctx), ended)
	})
	return func() {
		close(ended)
		if !timer.Stop() {
			<-joined
		}
	}
}

// flushUntil stores the run as running, and then its events as they arrive, until ended is closed. It repeats failed
// writes. If a write fails, the next write also contains the events of the failed one.
func (l *execution) flushUntil(ctx context.Context, ended <-chan struct{}) {
	tick := time.NewTimer(flushEvery)
	defer tick.Stop()
	store := l.begin
	for failing := false; ; {
		err := store(ctx)
		tick.Reset(l.flushInterval())
		if err == nil && l.outdated() {
			err = l.begin(ctx)
		}
		if err != nil && !failing { // Log only the first failure while the database is unavailable.
			l.service.Log.LogAttrs(ctx, slog.LevelError, "store a run at work", slog.String("run_id", l.job.RunID), slog.Any("error", err))
		}
		if fault.Is(err, fault.RunInterrupted) {
			if l.attached.Load() { // Another server now owns the run and follows its remote job, so the job must not be stopped.
				l.cancel(runtimes.ErrDetached)
			} else {
				l.cancel(errInterrupted)
			}
			return
		}
		if failing = err != nil; !failing {
			store = l.flush
		}
		select {
		case <-ended:
			return
		case <-tick.C:
		}
	}
}

// begin stores the state of an unfinished run. Other servers read this state. After a crash this server reads it too.
func (l *execution) begin(ctx context.Context) error {
	run := l.snapshot()
	l.shown = run.Status
	if l.service.Others != nil {
		l.epoch = l.service.Others.Epoch()
	}
	return l.service.Journal.BeginRun(registry.WithoutKey(ctx), l.recordOf(run))
}

// outdated reports whether the record has an old status, or other servers may have interrupted the run. A program that
// prints nothing stores no events, so only the epoch reveals such an interruption.
func (l *execution) outdated() bool {
	return l.snapshot().Status != l.shown || l.service.Others != nil && l.service.Others.Epoch() != l.epoch
}

func (l *execution) flush(ctx context.Context) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	events := l.toStore()
	if len(events) == 0 {
		return nil
	}
	err := l.service.Journal.AppendEvents(ctx, l.job.Workspace, l.job.RunID, events)
	if err != nil {
		l.unstored = events
		return err
	}
	l.flushed += bytesOf(events)
	l.tellOthers(ctx)
	return nil
}

func bytesOf(events []runtimes.Event) (total int64) {
	for i := range events {
		total += int64(len(events[i].Data))
	}
	return total
}

// toStore returns the events that are not stored yet, and marks them as returned.
func (l *execution) toStore() []runtimes.Event {
	events := append(l.unstored, l.recording.Drain()...)
	l.unstored = nil
	return l.eventsOf(events)
}

// eventsOf returns the events in the form in which they may be stored. If the run is private, they contain no values.
func (l *execution) eventsOf(events []runtimes.Event) []runtimes.Event {
	if l.private {
		return withheldEvents(events)
	}
	return events
}

// finish converts an outcome to the final run and stores the run. It reports the result only afterwards.
func (l *execution) finish(outcome runtimes.Outcome, serverErr error) {
	s := l.service
	ctx := context.WithoutCancel(l.ctx)
	if l.detached(outcome, serverErr) {
		l.detach(ctx)
		return
	}
	if serverErr == nil {
		serverErr = l.closeFiles(ctx, outcome)
	} else if l.files != nil {
		l.files.Discard()
	}
	if serverErr != nil {
		outcome = serverFailed(serverErr)
	}
	if outcome.Error != nil && outcome.Error.Type == runtimes.Cancelled && context.Cause(l.ctx) == errInterrupted {
		outcome.Error = &runtimes.ProgramError{Type: runtimes.Interrupted, Message: "The server stopped while the program ran.", Remedy: "Run it again."}
	}
	defer l.reserveRecord(&outcome)()
	l.recording.EndOutput()
	l.settleTools(outcome.Error)
	outcome = redacted(l.redactor, outcome)
	l.checkOutput(&outcome)
	run := l.conclude(outcome)
	_, span := s.step(ctx, "store")
	events := l.eventsOf(append(l.unstored, l.recording.Seal()...))
	run.ResultSeq = l.recording.ResultSeq()
	record := l.recordOf(run)
	l.unrecorded.Done()
	storeErr := s.Journal.FinishRun(ctx, record, events)
	span.End()
	l.place.End(outcome.Usage.CPU, int64(len(record.Input)+len(record.Output)+len(record.Stdout)+len(record.Stderr))+l.flushed+bytesOf(events))
	l.err = serverErr
	if s.Later != nil && fault.Is(storeErr, fault.StorageUnavailable) && l.finishLater(ctx, record, events, run, outcome.CallErr) {
		return
	}
	l.err = cmp.Or(storeErr, l.err)
	l.recorded(ctx, run, serverErr, storeErr, outcome.CallErr)
}

// finishLater queues the record until the database answers. If the queue is full, it returns false. It is a separate
// function because its closure would otherwise make the variables of finish escape to the heap in each run.
func (l *execution) finishLater(ctx context.Context, record registry.Run, events []runtimes.Event, run registry.Run, callErr error) bool {
	serverErr := l.err
	if !l.service.Later.FinishLater(record, events, func(err error) { l.recorded(ctx, run, serverErr, err, callErr) }) {
		return false
	}
	l.err, l.late = waitsForRecord(run.ID), true
	return true
}

// waitsForRecord returns the error for the caller of a finished run whose result is not stored yet. Results are
// reported only when they are durable.
func waitsForRecord(id string) error {
	return &fault.Error{
		Code: fault.StorageUnavailable, Message: "The run has finished, but the database does not answer. Its result is stored when the database answers again. Read it at GET /api/v1/runs/" + id + ".",
		RetryAfter: time.Second, Extra: map[string]any{"runId": id},
	}
}

// recorded reports the end of a run. If storeErr is nil, the record of the run was stored. Otherwise the record could
// not be stored, and the run is reported as interrupted.
func (l *execution) recorded(ctx context.Context, run registry.Run, serverErr, storeErr, callErr error) {
	s, recorded := l.service, run
	if storeErr != nil {
		markInterrupted(&recorded)
		if fault.Is(storeErr, fault.RunInterrupted) {
			recorded.Error.Message = "Another server took over the database during the run."
		}
		recorded.ExitCode, recorded.Output, recorded.OutputsHash, recorded.Validation.Output = nil, nil, "", unchecked
	}
	l.update(func(r *registry.Run) { *r = recorded })
	s.Routing.Ended(run)
	l.report(ctx, run, serverErr, storeErr, callErr)
	l.tellOthers(ctx)
	l.emitResult(recorded)
	if l.private {
		s.keep(l, recorded)
	}
	if storeErr == nil {
		_ = l.forget(ctx) // The error can be ignored: forget has logged it.
	}
	s.leave(l)
}

// reserveRecord waits until there is enough memory to check and store a large output. If there is not enough after
// 3*reservePatience, it continues without a reservation, because a finished run must be recorded. The function recorded
// returns the part of the memory that is not needed to send the answer.
func (l *execution) reserveRecord(outcome *runtimes.Outcome) (recorded func()) {
	bytes := l.bytesOf(*outcome)
	if bytes <= smallBytes {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), 3*reservePatience)
	defer cancel()
	if !l.reservation.Await(ctx, recordCopies*bytes) {
		return func() {}
	}
	return func() { l.reservation.Return((recordCopies - answerCopies) * bytes) }
}

// serverFailed converts an error of the server to the outcome of a run. The caller of the program sees the message only
// if the error is known.
func serverFailed(err error) runtimes.Outcome {
	message := "The run was not executed because of an internal error."
	var known *fault.Error
	switch fault.CodeOf(err) { //nolint:exhaustive // errors with other codes are reported as internal errors
	case fault.SandboxUnavailable:
		message = "The run was not executed because the sandbox is not available."
		if errors.Is(err, worker.ErrLost) && errors.As(err, &known) { // The worker stopped after the program had started.
			message = known.Message
		}
	case fault.StorageUnavailable:
		message = "The run was not executed because it could not be recorded."
	case fault.RuntimeUnavailable:
		message = "The run was not executed because the runtime is not available."
	}
	return runtimes.Failed(runtimes.Interrupted, message)
}

// checkOutput checks a result against the version's output schema.
func (l *execution) checkOutput(outcome *runtimes.Outcome) {
	if outcome.Error != nil || len(l.outputSchema) == 0 {
		return
	}
	verdict := "passed"
	details, err := l.service.Validator.Validate(l.outputSchema, outcome.Output)
	switch {
	case err != nil:
		verdict = "failed"
		outcome.Error = &runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "The output schema is not usable: " + err.Error()}
	case len(details) > 0:
		verdict = "failed"
		message := "The output does not match the output schema:"
		for _, d := range details {
			message += " output" + d.Pointer + " " + d.Message + ";"
		}
		outcome.Error = &runtimes.ProgramError{
			Type: runtimes.InvalidOutput, Message: message[:len(message)-1],
			Remedy: "Return a value that matches the output schema, or change the schema.",
		}
	}
	l.update(func(run *registry.Run) { run.Validation.Output = verdict })
}

// conclude returns the final state of the run, with outcome, hashes and metrics.
func (l *execution) conclude(outcome runtimes.Outcome) registry.Run {
	now := l.service.Now()
	finishedAt := stamp(now)
	run := l.snapshot()
	run.Stdout, run.Stderr, run.Truncated = l.recording.Output()
	run.Status, run.Error, run.ExitCode, run.FinishedAt = registry.StatusOf(outcome.Error), outcome.Error, outcome.ExitCode, &finishedAt
	run.Output = outcome.Output // The output is stored for inspection even if it does not match the output schema.
	if len(run.Output) > 0 {
		if hash, err := jcs.Digest(run.Output); err == nil {
			run.OutputsHash = hash
		}
	}
	if outcome.Level != "" {
		run.Isolation = outcome.Level
	}
	run.Metrics.StartMs, run.Metrics.RunMs, run.Metrics.CPUMs = ms(outcome.Usage.Start), ms(outcome.Usage.Run), ms(outcome.Usage.CPU)
	run.Metrics.PeakMemoryBytes = outcome.Usage.PeakMemory
	run.Metrics.RemoteMs, run.Metrics.GPUMs, run.Metrics.RemoteCost = ms(outcome.Usage.Remote), ms(outcome.Usage.GPU), outcome.Usage.RemoteCost
	run.Metrics.EgressBytes = l.egress.Load()
	run.Metrics.TotalMs = ms(now.Sub(l.created))
	return run
}

// report ends the span, updates the metrics and writes one log line with all details.
func (l *execution) report(ctx context.Context, run registry.Run, serverErr, storeErr, callErr error) {
	if storeErr == nil {
		l.service.Meter.RunFinished(run)
	} else {
		l.service.Meter.RunUnrecorded(run)
	}
	l.span.SetAttributes(happened(run)...)
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("run_id", run.ID), slog.String("workspace", run.Workspace), slog.String("agent", run.Agent), slog.String("version", run.Version),
		slog.String("runtime", string(run.Runtime)), slog.String("trigger", string(run.Trigger)), slog.String("actor", run.Actor.ID),
		slog.String("status", string(run.Status)), slog.Float64("queued_ms", run.Metrics.QueuedMs), slog.Float64("start_ms", run.Metrics.StartMs),
		slog.Float64("run_ms", run.Metrics.RunMs), slog.Float64("total_ms", run.Metrics.TotalMs), slog.Float64("cpu_ms", run.Metrics.CPUMs),
		slog.Int64("peak_memory", run.Metrics.PeakMemoryBytes), slog.String("isolation", run.Isolation), slog.String("trace_id", run.TraceID),
	}
	if run.Error != nil {
		attrs = append(attrs, slog.String("error_type", string(run.Error.Type))) // Log only the type of the error, because the message may contain text of the program.
	}
	for _, failed := range [...]struct {
		name string
		err  error
	}{{"server_error", serverErr}, {"store_error", storeErr}, {"call_error", callErr}} {
		if failed.err != nil {
			level = slog.LevelError
			text := l.redactor.Text(failed.err.Error())
			if l.private {
				text = "withheld, code " + string(fault.CodeOf(failed.err))
			}
			attrs = append(attrs, slog.String(failed.name, text))
			l.span.SetStatus(codes.Error, failed.name)
		}
	}
	l.service.Log.LogAttrs(ctx, level, "run finished", attrs...)
}

// validationPassed is the span attribute that states whether the input and the output matched their schemas.
const validationPassed = "code.validation_passed"

// happened returns the span attributes of a finished run. It omits values that were not measured or not checked.
func happened(run registry.Run) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		attribute.String("run.status", string(run.Status)), attribute.Bool("code.success", run.Status == registry.Succeeded),
		attribute.String("code.sandbox", run.Isolation),
	}
	if peak := run.Metrics.PeakMemoryBytes; peak > 0 {
		attributes = append(attributes, attribute.Float64("code.memory_mb", float64(peak)/(1<<20)))
	}
	if v := run.Validation; v.Input != unchecked || v.Output != unchecked {
		attributes = append(attributes, attribute.Bool(validationPassed, v.Input != "failed" && v.Output != "failed"))
	}
	return attributes
}

func (l *execution) emit(kind runtimes.Kind, data any) {
	raw, err := encode(data)
	if err != nil {
		return // The error is impossible: the data are plain structs.
	}
	l.recording.Emit(runtimes.Event{Kind: kind, Data: raw})
}

// emitResult closes the event stream with the result event.
func (l *execution) emitResult(run registry.Run) {
	l.recording.Close(runtimes.KindResult, func() json.RawMessage {
		raw, err := encode(AnswerOf(run))
		if err != nil {
			return json.RawMessage(`{"success":false}`)
		}
		return raw
	})
}

// stamp truncates a time to microseconds, the precision of both databases, so that reported and stored times are equal.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
