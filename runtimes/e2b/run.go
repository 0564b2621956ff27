package e2b

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/elsewhere"
	"github.com/atelier-run/atelier/runtimes/parcel"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// run is one run of a program, executed in one sandbox.
type run struct {
	engine *Engine
	job    runtimes.Job
	host   runtimes.Host
	relay  *worker.Relay
	cancel context.CancelCauseFunc
}

// execute creates a sandbox, runs the program and then deletes the sandbox, even after an error.
func (r *run) execute(ctx context.Context, allowed []string) (outcome runtimes.Outcome, err error) {
	packed, failed, err := parcel.Pack(ctx, r.job, parcel.Folders{}, r.engine.options.Bundle)
	if failed != nil || err != nil {
		return elsewhere.OrEmpty(failed), err
	}
	began := time.Now()
	id := r.job.RunID + "-" + rand.Text()[:8]
	r.engine.Enter(id)
	defer r.engine.Leave(id)
	// The request is not cancelled together with the run. Otherwise E2B could create a sandbox whose ID this server never
	// receives.
	creating, stop := context.WithTimeout(context.WithoutCancel(ctx), createWithin)
	box, err := r.engine.create(creating, id, allowed, r.time()+uploadWithin+spare)
	stop()
	if err != nil {
		if ctx.Err() != nil {
			return r.relay.Reached(runtimes.Cancelled), nil
		}
		return runtimes.Outcome{}, err
	}
	defer func() {
		deleting, stop := context.WithTimeout(context.WithoutCancel(ctx), deleteWithin)
		defer stop()
		if err := r.engine.remove(deleting, box.SandboxID); err != nil {
			r.engine.Log.Error("delete a sandbox of E2B", "sandbox", box.SandboxID, "run_id", r.job.RunID, "error", err)
		}
	}()
	created := time.Now()
	outcome, err = r.inside(ctx, envd{r.engine, box}, packed, began)
	outcome.Usage.Remote = time.Since(created)
	return outcome, err
}

// inside uploads the program to the sandbox, runs it and reads its result.
func (r *run) inside(ctx context.Context, d envd, packed parcel.Parcel, began time.Time) (runtimes.Outcome, error) {
	folder := "/tmp/atelier-" + rand.Text()
	uploading, stop := context.WithTimeout(ctx, uploadWithin)
	err := d.upload(uploading, folder, packed.Files)
	stop()
	if ctx.Err() != nil {
		return r.ended(ctx), nil
	}
	if err != nil {
		return runtimes.Outcome{}, unreachable(err)
	}
	reader := packed.Read(r.relay, r.host)
	w := &watched{run: r, envd: d, reader: reader}
	reader.Started = w.begin
	defer w.stop()
	args := append([]string{"-i", "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + folder + "/work", "LANG=C.UTF-8", "TMPDIR=/tmp"}, packed.Command(folder)...)
	end, err := w.follow(ctx, "/usr/bin/env", args, folder)
	start := w.started.Sub(began)
	if w.started.IsZero() {
		start = time.Since(began)
	}
	outcome, err := r.conclude(ctx, d, folder, reader, end, err)
	outcome.Usage.Start = start
	return outcome, err
}

// conclude returns the outcome of the run. end and err are the results of follow.
func (r *run) conclude(ctx context.Context, d envd, folder string, reader *parcel.Reader, end *int, err error) (runtimes.Outcome, error) {
	switch {
	case errors.Is(err, errOver):
		return r.relay.Reached(runtimes.OutputLimit), nil
	case ctx.Err() != nil:
		return r.ended(ctx), nil
	case errors.Is(err, errNotStarted):
		return runtimes.Outcome{}, unreachable(err)
	}
	reading, stop := context.WithTimeout(ctx, uploadWithin)
	defer stop()
	data, missing := d.download(reading, folder+"/"+parcel.Result, parcel.MostResult(r.job.Limits))
	switch {
	case ctx.Err() != nil:
		return r.ended(ctx), nil
	case errors.Is(missing, errLarge):
		return r.relay.TooLarge(), nil
	case missing == nil, errors.Is(missing, errNone) && err == nil:
		return reader.Outcome(data, end), nil
	}
	return runtimes.Outcome{Error: &runtimes.ProgramError{Type: runtimes.Interrupted, Message: "The sandbox at E2B ended while the program ran.", Remedy: "Run it again."}}, nil
}

// ended returns the outcome for the end of the run's context.
func (r *run) ended(ctx context.Context) runtimes.Outcome {
	if errors.Is(context.Cause(ctx), errTime) {
		return r.relay.Reached(runtimes.Timeout)
	}
	return r.relay.Reached(runtimes.Cancelled)
}

func unreachable(err error) error {
	return &fault.Error{Code: fault.RuntimeUnavailable, Message: "The program was not started: its sandbox at E2B does not answer.", Err: err, RetryAfter: 10 * time.Second}
}

var (
	errOver       = errors.New("the program printed more than its limit")
	errNotStarted = errors.New("the program did not start")
	errBroken     = errors.New("the stream broke")
)

// interpreter is added to the program's time limit. It is the time for the start of the interpreter and the runner.
const interpreter = 20 * time.Second

// time is the time limit of the program.
func (r *run) time() time.Duration { return time.Duration(r.job.Limits.TimeoutMs) * time.Millisecond }

// begin starts the timer for the program's time limit.
func (w *watched) begin() {
	if w.limit != nil {
		w.started = time.Now()
		w.limit.Reset(w.run.time())
	}
}

// silence is how long a stream may be without a message before it counts as broken. envd sends a message at least every
// 20 seconds.
const silence = time.Minute

// watched is the process of a program in a sandbox. The engine watches its output and its time limit.
type watched struct {
	run     *run
	envd    envd
	reader  *parcel.Reader
	pid     int64
	started time.Time
	limit   *time.Timer
}

func (w *watched) stop() {
	if w.limit != nil {
		w.limit.Stop()
	}
}

// follow starts the process and forwards its output until the process ends. If the stream breaks, follow connects to
// the process again. It returns the exit code, or nil if that is unknown.
func (w *watched) follow(ctx context.Context, command string, args []string, folder string) (*int, error) {
	starting, stop := context.WithCancel(ctx)
	late := time.AfterFunc(createWithin, stop)
	s, err := w.envd.start(starting, command, args, folder)
	late.Stop()
	defer stop()
	if err != nil {
		return nil, errors.Join(errNotStarted, err)
	}
	for attempt := 1; ; attempt++ {
		code, err := w.read(ctx, s)
		s.close()
		switch {
		case w.pid == 0 && err != nil && ctx.Err() == nil:
			return nil, errors.Join(errNotStarted, err)
		case !errors.Is(err, errBroken) || ctx.Err() != nil:
			return code, err
		case attempt == elsewhere.MaxAttempts || !elsewhere.Pause(ctx, w.run.engine.pause(attempt)):
			return nil, err
		}
		if s, err = w.envd.connect(ctx, w.pid); err != nil {
			return nil, errors.Join(errBroken, err)
		}
	}
}

// read forwards the output of one stream. It returns the exit code when the process has ended.
func (w *watched) read(ctx context.Context, s *stream) (*int, error) {
	quiet := time.AfterFunc(silence, s.close)
	defer quiet.Stop()
	for {
		e, err := s.next()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errBroken, err)
		}
		quiet.Reset(silence)
		switch event := e.Event; {
		case event.Start != nil && w.pid == 0:
			w.pid, w.started = event.Start.PID, time.Now()
			w.limit = time.AfterFunc(w.run.time()+interpreter, func() { w.run.cancel(errTime) })
		case event.Data != nil:
			if !w.reader.Stdout(ctx, event.Data.Stdout) || !w.reader.Stderr(event.Data.Stderr) {
				return nil, errOver
			}
		case event.End != nil:
			code := event.End.ExitCode
			return &code, nil
		}
	}
}
