package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// maxNotes is the maximum number of a run's log and progress events that are forwarded.
const maxNotes = 10_000

// cancelWithin is the timeout of the request that cancels the run at the service.
const cancelWithin = 10 * time.Second

// atelier executes the program at another Atelier server. It starts a run there and follows its events. If the local
// run ends first, it cancels the run at the service. The Idempotency-Key makes it safe to repeat the request.
func (c *call) atelier(ctx context.Context) runtimes.Outcome {
	body, err := c.program()
	if err != nil {
		return runtimes.Failed(runtimes.RuntimeError, "The input is not valid JSON.")
	}
	base := strings.TrimRight(c.service.URL, "/") + "/api/v1"
	// The request is not cancelled together with the run. Otherwise the service could start a run whose ID this server
	// never receives.
	begin, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), c.engine.options.Start, errStart)
	defer stop()
	answered, failure := c.send(begin, request{
		method: http.MethodPost, url: base + "/execute", body: body, safe: true,
		headers: map[string]string{"Accept": "application/json", "Prefer": "respond-async", "Idempotency-Key": key(c.job)},
	})
	if failure != nil {
		if ctx.Err() != nil {
			return c.ended(ctx)
		}
		return *failure
	}
	data, err := io.ReadAll(io.LimitReader(answered.Body, c.mostAnswer()))
	_ = answered.Body.Close()
	var a answer
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil || a.RunID == "" {
		return c.failed("did not answer like an Atelier server.", "Check the url in "+File+": it must be the address of the server, without /api/v1.")
	}
	if answered.StatusCode == http.StatusOK { // the service refused to start the run and answered with its result
		return c.whole(data)
	}
	run := base + "/runs/" + url.PathEscape(a.RunID)
	outcome, ended := c.follow(ctx, run)
	if !ended {
		c.cancelRun(ctx, run)
	}
	return outcome
}

// cancelRun cancels the run at the service. If that fails, the run at the service continues until its own time limit.
func (c *call) cancelRun(ctx context.Context, run string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelWithin)
	defer cancel()
	answer, failure := c.send(ctx, request{method: http.MethodPost, url: run + "/cancel", safe: true})
	if failure != nil {
		c.engine.options.Log.WarnContext(ctx, "cancel a run at another Atelier", "run_id", c.job.RunID, "host", c.service.target.String())
		return
	}
	_ = answer.Body.Close()
}

// follow forwards the events of the run until it receives the result. If the connection breaks, follow connects again
// and continues with the next event. ended reports whether the run has ended at the service.
func (c *call) follow(ctx context.Context, run string) (outcome runtimes.Outcome, ended bool) {
	var last int64
	for attempt := 1; ; attempt++ {
		answer, failure := c.send(ctx, request{
			method: http.MethodGet, url: run + "/events?from=" + strconv.FormatInt(last, 10), headers: map[string]string{"Accept": "text/event-stream"}, safe: true,
		})
		if failure != nil {
			return *failure, false
		}
		before := last
		result, err := c.read(ctx, answer.Body, &last)
		_ = answer.Body.Close()
		switch {
		case result != nil:
			return c.outcome(*result), true
		case errors.Is(err, errOver):
			return c.relay.Reached(runtimes.OutputLimit), false
		case errors.Is(err, errTooLarge):
			return c.relay.TooLarge(), false
		case ctx.Err() != nil:
			return c.ended(ctx), false
		case last > before:
			attempt = 0
		case attempt == maxAttempts:
			return c.failed("does not send the events of the run.", "Check the service."), false
		}
		if !c.pause(ctx, attempt+1, 0) {
			return c.ended(ctx), false
		}
	}
}

// errOver and errTooLarge are the errors of a stream that exceeds a limit.
var (
	errOver     = errors.New("the program printed more than its limit")
	errTooLarge = errors.New("the answer is too large")
)

// read forwards the events of one stream. It returns the result of the run, or the error that ended the stream.
func (c *call) read(ctx context.Context, body io.Reader, last *int64) (*answer, error) {
	lines := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := c.line(lines)
		if err != nil {
			return nil, err
		}
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		var e runtimes.Event
		if err := json.Unmarshal(bytes.TrimSpace(data), &e); err != nil || e.Seq <= *last {
			continue
		}
		*last = e.Seq
		if result, err := c.event(ctx, e); result != nil || err != nil {
			return result, err
		}
	}
}

// line reads one line. It returns an error if the line is longer than mostAnswer.
func (c *call) line(lines *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := lines.ReadSlice('\n')
		line = append(line, part...)
		if int64(len(line)) > c.mostAnswer() {
			return nil, errTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

// event forwards one event. If the event contains the result of the run, it returns the result. It ignores events that
// only concern the service.
func (c *call) event(ctx context.Context, e runtimes.Event) (*answer, error) {
	switch e.Kind { //nolint:exhaustive // ignores the other kinds, which only concern the service
	case runtimes.KindStdout, runtimes.KindStderr:
		var text string
		if json.Unmarshal(e.Data, &text) != nil {
			return nil, nil
		}
		write := c.relay.Stdout
		if e.Kind == runtimes.KindStderr {
			write = c.relay.Stderr
		}
		if !write([]byte(text)) {
			return nil, errOver
		}
	case runtimes.KindLog, runtimes.KindProgress:
		if c.notes.Add(1) <= maxNotes {
			c.relay.Sync()
			_, _ = c.host.Call(ctx, string(e.Kind), e.Data) // an invalid log entry or progress is dropped
		}
	case runtimes.KindDropped:
		var dropped runtimes.DroppedData
		if json.Unmarshal(e.Data, &dropped) == nil {
			c.relay.Drop(dropped.Bytes)
		}
	case runtimes.KindStatus:
		var status runtimes.StatusData
		if json.Unmarshal(e.Data, &status) == nil && status.Status == "running" {
			c.started()
		}
	case runtimes.KindResult:
		result := &answer{}
		if err := json.Unmarshal(e.Data, result); err != nil {
			return nil, err
		}
		return result, nil
	}
	return nil, nil
}
