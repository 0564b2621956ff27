package bacalhau

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/atelier-run/atelier/runtimes/elsewhere"
)

// Labels of a job.
const (
	labelOwner = "atelier-owner"
	labelRun   = "atelier-run"
)

// jobState is the state of a job.
type jobState string

// States of an execution that the engine distinguishes. The state of a running program is usually bidAccepted, because
// nodes do not report executionRunning to the orchestrator.
const (
	running   jobState = "Running"
	completed jobState = "Completed"
	failed    jobState = "Failed"
	stopped   jobState = "Stopped"
)

func (s jobState) ended() bool { return s == completed || s == failed || s == stopped }

// executionState is the state of an execution, a number in Bacalhau's API.
type executionState int

// States of an execution that the engine distinguishes. A running program usually has the state bidAccepted, because nodes
// do not report executionRunning to the orchestrator.
const (
	bidRejectedEarly  executionState = 4
	bidAccepted       executionState = 5
	executionRunning  executionState = 6
	publishing        executionState = 7
	bidRejected       executionState = 8
	executionComplete executionState = 9
	executionFailed   executionState = 10
)

// view is the JSON of a job and its executions in Bacalhau's API.
type view struct {
	Job        jobView
	Executions struct{ Items []execution }
}

type jobView struct {
	ID, Name   string
	Labels     map[string]string
	CreateTime int64 // creation time in nanoseconds, by the clock of the orchestrator
	State      struct {
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

// located is the location of a published result.
type located struct {
	Type   string
	Params map[string]any
}

// address returns the URL of the result, or "" if the location has no URL.
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

// pause returns the pause before the next attempt. The pause doubles with each attempt.
func (e *Engine) pause(attempt int) time.Duration { return e.options.Poll << attempt }

// submit creates a job.
func (e *Engine) submit(ctx context.Context, spec map[string]any) (string, error) {
	var made struct{ JobID string }
	err := elsewhere.Create(ctx, e.pause, func() error {
		return e.request(ctx, http.MethodPut, "/orchestrator/jobs", map[string]any{"Job": spec}, &made)
	})
	if err == nil && made.JobID == "" {
		err = errors.New("Bacalhau answered without the ID of a job")
	}
	return made.JobID, err
}

// refused returns the server error for an error of Bacalhau's API that occurred before the program started.
func refused(err error) error {
	const key = "Bacalhau rejected the API key. Check BACALHAU_API_KEY."
	return elsewhere.NotStarted(service.Name, err, map[int]string{
		0:                      "Bacalhau is unreachable. Check BACALHAU_API_HOST and BACALHAU_API_PORT, and try again later.",
		elsewhere.Unauthorized: key, elsewhere.Forbidden: key,
	})
}

// look reads the state of a job.
func (e *Engine) look(ctx context.Context, id string) (view, error) {
	var v view
	err := e.request(ctx, http.MethodGet, "/orchestrator/jobs/"+url.PathEscape(id)+"?include=executions", nil, &v)
	return v, err
}

// results returns the URL of the result of a job. It is needed for publishers that create URLs on request.
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

// end stops a job. It succeeds if the job has already ended.
func (e *Engine) end(ctx context.Context, id, reason string) error {
	return elsewhere.Remove(ctx, e.pause, func() error {
		return e.request(ctx, http.MethodDelete, "/orchestrator/jobs/"+url.PathEscape(id), map[string]string{"reason": reason}, nil)
	}, func() bool { return e.over(ctx, id) })
}

// over reports whether a job has ended. For such a job, Bacalhau rejects a request to stop it.
func (e *Engine) over(ctx context.Context, id string) bool {
	v, err := e.look(ctx, id)
	return err == nil && v.Job.State.StateType.ended()
}

// maxSwept is the number of jobs after which list stops.
const maxSwept = 20_000

// list lists the newest jobs of this server, back to the first one that was created before since. It does not list all
// jobs, because Bacalhau keeps every job that ever ended and lists it with its inputs. After an error it returns the jobs
// that it has read.
func (e *Engine) list(ctx context.Context, since int64) (all []jobView, err error) {
	query := url.Values{"labels": {labelOwner + "=" + e.options.Owner}, "limit": {"100"}, "order_by": {"created_at"}, "reverse": {"true"}}
	for {
		next := ""
		err := e.request(ctx, http.MethodGet, "/orchestrator/jobs?"+query.Encode(), nil, func(in io.Reader) error {
			return readPage(in, func(one jobView) { all = append(all, one) }, &next)
		})
		if err != nil || next == "" || len(all) >= maxSwept || len(all) > 0 && all[len(all)-1].CreateTime < since {
			return all, err
		}
		query.Set("next_token", next)
	}
}

// mostPage is the maximum size of one page of a list, in bytes.
const mostPage = 256 << 20

// readPage decodes a page of a list of jobs. It has one job in memory at a time.
func readPage(in io.Reader, each func(jobView), next *string) error {
	dec := json.NewDecoder(io.LimitReader(in, mostPage))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("a list of jobs begins with %v: %w", token, err)
	}
	for dec.More() {
		key, err := dec.Token()
		switch {
		case err != nil:
		case key == "Items":
			err = readItems(dec, each)
		case key == "NextToken":
			err = dec.Decode(next)
		default:
			err = dec.Decode(&json.RawMessage{})
		}
		if err != nil {
			return err
		}
	}
	_, err := dec.Token() // reads the end of the object; an error means that the page is incomplete
	return err
}

func readItems(dec *json.Decoder, each func(jobView)) error {
	if token, err := dec.Token(); err != nil || token != json.Delim('[') {
		return err // err is nil for null, which stands for an empty list
	}
	for dec.More() {
		var one jobView
		if err := dec.Decode(&one); err != nil {
			return err
		}
		each(one)
	}
	_, err := dec.Token()
	return err
}

// request sends one request to the orchestrator.
func (e *Engine) request(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	head := http.Header{}
	e.sign(head)
	_, err := e.Send(ctx, service.Name, method, e.base+path, head, body, into)
	return err
}

// sign adds the API key to a request to the orchestrator. It must not be called for requests to other hosts.
func (e *Engine) sign(head http.Header) {
	head.Set("User-Agent", "atelier")
	if e.options.Key != "" {
		head.Set("Authorization", "Bearer "+e.options.Key)
	}
}
