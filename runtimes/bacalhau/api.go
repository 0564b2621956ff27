package bacalhau

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// Labels of a job.
const (
	labelOwner = "atelier-owner"
	labelRun   = "atelier-run"
)

// These constants limit requests.
const (
	maxAttempts = 4
	maxReply    = 4 << 20
	maxListed   = 1000
)

// Statuses that have a handling of their own.
const (
	unauthorized = 401
	forbidden    = 403
	absent       = 404
	tooMany      = 429
	unavailable  = 503
)

// status is an answer with an error.
type status struct {
	code    int
	message string
}

func (s *status) Error() string {
	return fmt.Sprintf("Bacalhau answered with status %d: %s", s.code, s.message)
}

// jobState is the state of a job.
type jobState string

// States of a job.
const (
	running   jobState = "Running"
	completed jobState = "Completed"
	failed    jobState = "Failed"
	stopped   jobState = "Stopped"
)

func (s jobState) ended() bool { return s == completed || s == failed || s == stopped }

// executionState is the state of an execution: a number.
type executionState int

// States of an execution that have a handling of their own. The orchestrator shows a program that runs as bidAccepted: the
// node does not report executionRunning to it.
const (
	bidRejectedEarly  executionState = 4
	bidAccepted       executionState = 5
	executionRunning  executionState = 6
	publishing        executionState = 7
	bidRejected       executionState = 8
	executionComplete executionState = 9
	executionFailed   executionState = 10
)

// view is a job with its executions, as Bacalhau describes it.
type view struct {
	Job        jobView
	Executions struct{ Items []execution }
}

type jobView struct {
	ID, Name string
	Labels   map[string]string
	State    struct {
		StateType jobState
		Message   string
	}
}

type execution struct {
	ID           string
	ComputeState struct {
		StateType executionState
		Message   string
	}
	PublishedResult *located
	RunOutput       *struct{ ExitCode int }
}

// located is a published result.
type located struct {
	Type   string
	Params map[string]any
}

// address returns where the result can be read, "" if it is not at an address.
func (l *located) address() string {
	if l == nil {
		return ""
	}
	for _, key := range []string{"URL", "PreSignedURL"} {
		if text, ok := l.Params[key].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// submit creates a job. A request that may have created one is not repeated; the janitor stops it.
func (e *Engine) submit(ctx context.Context, spec map[string]any) (string, error) {
	var made struct{ JobID string }
	var err error
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		if err = e.request(ctx, http.MethodPut, "/orchestrator/jobs", map[string]any{"Job": spec}, &made); err == nil {
			break
		}
		var s *status
		if !errors.As(err, &s) || s.code != tooMany && s.code != unavailable || !e.pause(ctx, e.options.Poll<<attempt) {
			break
		}
	}
	if err == nil && made.JobID == "" {
		err = errors.New("Bacalhau answered without a job")
	}
	return made.JobID, err
}

// refused explains an error of the API before a program has started.
func refused(err error) error {
	f := fault.New(fault.RuntimeUnavailable, "The program was not started: Bacalhau is unreachable. Check BACALHAU_API_HOST and BACALHAU_API_PORT, and try again later.")
	var s *status
	if errors.As(err, &s) {
		f.Message = fmt.Sprintf("The program was not started: Bacalhau answered with status %d.", s.code)
		if s.code == unauthorized || s.code == forbidden {
			f.Message = "The program was not started: Bacalhau refused the key. Check BACALHAU_API_KEY."
		}
	}
	f.Err, f.RetryAfter = err, 10*time.Second
	return f
}

// look reads the state of a job.
func (e *Engine) look(ctx context.Context, id string) (view, error) {
	var v view
	err := e.request(ctx, http.MethodGet, "/orchestrator/jobs/"+url.PathEscape(id)+"?include=executions", nil, &v)
	return v, err
}

// results reads where the result of a job is, for publishers that make addresses on request.
func (e *Engine) results(ctx context.Context, id string) (string, error) {
	var found struct{ Items []*located }
	if err := e.request(ctx, http.MethodGet, "/orchestrator/jobs/"+url.PathEscape(id)+"/results", nil, &found); err != nil {
		return "", err
	}
	for _, one := range found.Items {
		if text := one.address(); text != "" {
			return text, nil
		}
	}
	return "", nil
}

// end stops a job.
func (e *Engine) end(ctx context.Context, id, reason string) error {
	var err error
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		err = e.request(ctx, http.MethodDelete, "/orchestrator/jobs/"+url.PathEscape(id)+"?"+url.Values{"reason": {reason}}.Encode(), nil, nil)
		var s *status
		if err == nil || errors.As(err, &s) && s.code == absent || e.over(ctx, id) {
			return nil
		}
		if !e.pause(ctx, e.options.Poll<<attempt) {
			break
		}
	}
	return err
}

// over reports whether a job has ended. Bacalhau refuses to stop one that has.
func (e *Engine) over(ctx context.Context, id string) bool {
	v, err := e.look(ctx, id)
	return err == nil && v.Job.State.StateType.ended()
}

// list lists the jobs of this server.
func (e *Engine) list(ctx context.Context) ([]jobView, error) {
	var all []jobView
	query := url.Values{"labels": {labelOwner + "=" + e.options.Owner}, "limit": {"100"}}
	for len(all) < maxListed {
		var page struct {
			Items     []jobView
			NextToken string
		}
		if err := e.request(ctx, http.MethodGet, "/orchestrator/jobs?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Items...); page.NextToken == "" {
			break
		}
		query.Set("next_token", page.NextToken)
	}
	return all, nil
}

// pause waits. It reports whether to go on.
func (e *Engine) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// request sends one request to the orchestrator.
func (e *Engine) request(ctx context.Context, method, path string, body, into any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, e.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	e.sign(request.Header)
	answer, err := e.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxReply))
	if answer.StatusCode >= 300 {
		var problem struct{ Message string }
		_ = json.Unmarshal(data, &problem) // the status says enough
		return &status{answer.StatusCode, problem.Message}
	}
	if err == nil && into != nil {
		err = json.Unmarshal(data, into)
	}
	return err
}

// sign adds the key to a request for the orchestrator. No other host receives it.
func (e *Engine) sign(head http.Header) {
	head.Set("User-Agent", "atelier")
	if e.options.Key != "" {
		head.Set("Authorization", "Bearer "+e.options.Key)
	}
}
