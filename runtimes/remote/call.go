package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Limits of repeated requests: the number of attempts, and the pause between two attempts.
const (
	maxAttempts = 4
	maxPause    = 10 * time.Second
)

// maxProblem is the maximum size of the body of an error answer. maxBesides is the maximum size of all parts of an
// answer except the output. Both are in bytes.
const (
	maxProblem = 64 << 10
	maxBesides = 2 << 20
)

// maxStart is the maximum start time in milliseconds that a service may report. It prevents an overflow in the
// computation of durations.
const maxStart = 1e9

// maxGPUMs and maxCost limit the GPU time in milliseconds and the cost that one run adds to the usage of its workspace.
// They are needed because a service may report any number.
const (
	maxGPUMs = 1e10
	maxCost  = 1e6
)

// HTTP statuses of services that are handled specially. Other statuses are handled by their class, such as 5xx.
const (
	unauthorized = 401
	forbidden    = 403
	conflict     = 409
	tooMany      = 429
)

// call is the execution of one program.
type call struct {
	engine  *Engine
	service Service
	job     runtimes.Job
	host    runtimes.Host
	relay   *worker.Relay
	key     string
	client  http.Client
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	running atomic.Bool // whether the program's time limit has started
	notes   atomic.Int64
	large   atomic.Bool // whether an answer was larger than allowed
}

// program is the request body of POST /api/v1/execute: a program with its input.
type program struct {
	Language     runtimes.Language        `json:"language"`
	Runtime      runtimes.Name            `json:"runtime,omitempty"`
	Files        map[string]registry.File `json:"files"`
	Entrypoint   string                   `json:"entrypoint"`
	Input        json.RawMessage          `json:"input"`
	InputSchema  json.RawMessage          `json:"inputSchema"`
	Environment  map[string]string        `json:"environment,omitempty"`
	Capabilities permissions              `json:"capabilities"`
	Limits       runtimes.Limits          `json:"limits"`
	Isolation    runtimes.Isolation       `json:"isolation,omitempty"`
}

type permissions struct {
	Hosts         []string `json:"hosts"`
	HostFunctions []string `json:"hostFunctions"`
	Subprocess    bool     `json:"subprocess"`
}

// askModel is the host function that sends a prompt to a language model. The request does not ask the service to grant
// it. The service does not know which texts of the environment are secret, nor the safety flags of the program, and
// would send them to its own model.
const askModel = "askLLM"

// program returns the request body. It omits the file that contains the service, and the grant of the service's host,
// because the program at the service does not need them.
func (c *call) program() ([]byte, error) {
	functions := slices.DeleteFunc(append([]string{}, c.job.Capabilities.HostFunctions...), func(name string) bool { return name == askModel })
	p := program{
		Language: c.job.Language, Runtime: c.service.Runtime, Files: map[string]registry.File{}, Entrypoint: c.job.Entrypoint, Input: c.job.Input,
		InputSchema: json.RawMessage("{}"), Environment: c.job.Environment, Limits: c.job.Limits, Isolation: c.job.Isolation,
		Capabilities: permissions{Hosts: []string{}, HostFunctions: functions, Subprocess: c.job.Capabilities.Subprocess},
	}
	if len(p.Input) == 0 {
		p.Input = json.RawMessage("null")
	}
	for path, content := range c.job.Files {
		if path != File {
			p.Files[path] = content
		}
	}
	for _, text := range c.job.Capabilities.Hosts {
		if grant, err := hostpattern.ParseGrant(text); err != nil || grant.String() != c.service.target.String() {
			p.Capabilities.Hosts = append(p.Capabilities.Hosts, text)
		}
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(p)
	return body.Bytes(), err
}

// traced is a transport that adds the trace context of a run to requests.
type traced struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t traced) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := request.Clone(request.Context())
	propagation.TraceContext{}.Inject(request.Context(), propagation.HeaderCarrier(sent.Header))
	return t.RoundTripper.RoundTrip(sent)
}

// request is one HTTP request to a service. If safe is true, it may be repeated even if the service may have received
// it.
type request struct {
	method, url string
	body        []byte
	headers     map[string]string
	safe        bool
}

// send sends a request. After a failure it repeats the request if the request is safe or if the service did not process
// it. The pause before a repetition is random and grows. send returns an answer with a status below 300, whose body the
// caller must close, or the outcome of the run.
func (c *call) send(ctx context.Context, r request) (*http.Response, *runtimes.Outcome) {
	for attempt := 1; ; attempt++ {
		answer, begun, err := c.try(ctx, r)
		var pause time.Duration
		var failure runtimes.Outcome
		switch {
		case err == nil && answer.StatusCode < 300:
			c.engine.breaker.report(c.key, true)
			return answer, nil
		case err == nil:
			var again bool
			failure, again, pause = c.refused(answer, r.safe)
			c.engine.breaker.report(c.key, answer.StatusCode < 500)
			if !again {
				return nil, &failure
			}
		case ctx.Err() != nil:
			failure = c.ended(ctx)
			return nil, &failure
		default:
			if denied := egress.Denial(err); denied != nil {
				return nil, &runtimes.Outcome{Error: denied}
			}
			c.engine.breaker.report(c.key, false)
			failure = c.failed("is unreachable or closed the connection.", "Check the url in "+File+" and that the service runs, then run the program again.")
			if begun && !r.safe {
				failure = c.failed("closed the connection after it received the program. The program may have run there.", "Find out whether the program had an effect before you run it again.")
				return nil, &failure
			}
		}
		if attempt == maxAttempts {
			return nil, &failure
		}
		if !c.pause(ctx, attempt, pause) {
			failure = c.ended(ctx)
			return nil, &failure
		}
	}
}

// pause waits before a request is repeated: a random time plus least, the time that the service requested. It returns
// false if the context ends.
func (c *call) pause(ctx context.Context, attempt int, least time.Duration) bool {
	most := min(c.engine.options.Backoff<<attempt, maxPause)
	timer := time.NewTimer(min(least, maxPause) + rand.N(most))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// try sends a request once. begun reports whether the service may have received it.
func (c *call) try(ctx context.Context, r request) (answer *http.Response, begun bool, err error) {
	var wrote atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	sent, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, false, err
	}
	if len(r.body) > 0 {
		sent.Header.Set("Content-Type", "application/json")
	}
	sent.Header.Set("User-Agent", "atelier")
	for name, value := range r.headers {
		sent.Header.Set(name, value)
	}
	answer, err = c.client.Do(sent)
	return answer, wrote.Load(), err
}

// problem is the body of an error answer, in the form of RFC 9457.
type problem struct {
	Detail string `json:"detail"`
	Title  string `json:"title"`
	Errors []struct {
		Pointer string `json:"pointer"`
		Message string `json:"message"`
	} `json:"errors"`
}

// refused returns the outcome for an answer with an error status. again reports whether the request may be repeated,
// and pause is the time to wait before that.
func (c *call) refused(answer *http.Response, safe bool) (failure runtimes.Outcome, again bool, pause time.Duration) {
	defer answer.Body.Close()
	// If reading fails, the text that was read is enough for a message.
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		pause = time.Duration(seconds) * time.Second
	}
	message := fmt.Sprintf("answered with status %d", answer.StatusCode)
	var p problem
	if json.Unmarshal(text, &p) == nil && (p.Detail != "" || p.Title != "") {
		message += ": " + strings.TrimSuffix(p.Detail, ".")
		if p.Detail == "" {
			message += p.Title
		}
		for _, e := range p.Errors[:min(len(p.Errors), 5)] {
			message += "; " + e.Pointer + " " + strings.TrimSuffix(e.Message, ".")
		}
	}
	remedy := "Change the program or the service."
	switch {
	case answer.StatusCode < 400:
		remedy = "Write the address that the service redirects to in " + File + "."
	case answer.StatusCode == unauthorized || answer.StatusCode == forbidden:
		remedy = fmt.Sprintf("Store a secret that is bound to %s with the header Authorization, and add its name to the secrets of the program.", c.service.target)
	case answer.StatusCode == tooMany:
		remedy, again = "Try again later.", true // may be repeated, because the service did not process the request
	case answer.StatusCode >= 500:
		remedy, again = "Try again later.", safe
	// May be repeated, because the service still processes the first request with this Idempotency-Key.
	case answer.StatusCode == conflict && pause > 0:
		again = safe
	}
	return c.failed(message+".", remedy), again, pause
}

// failed returns the outcome for a failure of the service. message is a predicate that follows the name of the service.
func (c *call) failed(message, remedy string) runtimes.Outcome {
	return c.relay.Failed(runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The service %s %s", c.service.target, message), Remedy: remedy})
}

// ended returns the outcome for the end of the call's context.
func (c *call) ended(ctx context.Context) runtimes.Outcome {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTime):
		return c.relay.Reached(runtimes.Timeout)
	case errors.Is(cause, errStart):
		return c.failed(fmt.Sprintf("did not start the program within %s.", c.engine.options.Start), "Try again later.")
	}
	return c.relay.Reached(runtimes.Cancelled)
}

// mostAnswer returns the maximum size of an answer in bytes.
func (c *call) mostAnswer() int64 { return c.job.Limits.OutputBytes + maxBesides }

// answer is the result of a run, in the form of the answer of POST /api/v1/execute.
type answer struct {
	RunID    string                 `json:"runId"`
	Status   string                 `json:"status"`
	Success  *bool                  `json:"success"`
	Output   json.RawMessage        `json:"output"`
	Error    *runtimes.ProgramError `json:"error"`
	Stdout   string                 `json:"stdout"`
	Stderr   string                 `json:"stderr"`
	ExitCode *int                   `json:"exitCode"`
	Metrics  struct {
		QueuedMs        float64 `json:"queuedMs"`
		StartMs         float64 `json:"startMs"`
		PeakMemoryBytes int64   `json:"peakMemoryBytes"`
		GPUMs           float64 `json:"gpuMs"`
		RemoteCost      float64 `json:"remoteCost"`
	} `json:"metrics"`
}

// whole returns the outcome in an answer that also contains the program's printed output. It forwards that output
// first.
func (c *call) whole(data []byte) runtimes.Outcome {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil || a.Success == nil {
		return c.failed("sent an answer without the field success.", "Use a service whose answers have the form of POST /api/v1/execute of Atelier.")
	}
	if !c.relay.Stdout([]byte(a.Stdout)) || !c.relay.Stderr([]byte(a.Stderr)) {
		return c.relay.Reached(runtimes.OutputLimit)
	}
	return c.outcome(a)
}

// outcome converts an answer to an outcome. It does not trust the answer.
func (c *call) outcome(a answer) runtimes.Outcome {
	var outcome runtimes.Outcome
	switch failure := a.Error; {
	case a.Success != nil && *a.Success && failure == nil:
		outcome = c.relay.Succeeded(a.Output)
	case failure == nil:
		outcome = c.failed("reported that the program failed, without a reason.", "Check the service.")
	default:
		outcome = c.relay.Failed(*failure)
		// Error types that only a server reports, and never a program.
		ends := []runtimes.ErrorType{runtimes.Timeout, runtimes.Interrupted}
		if slices.Contains(ends, failure.Type) {
			outcome.Error.Type = failure.Type
		}
		if failure.Type == runtimes.Timeout && outcome.Error.Remedy == "" {
			outcome.Error.Remedy = c.relay.Reached(runtimes.Timeout).Error.Remedy
		}
		if failure.Type == runtimes.Cancelled {
			outcome.Error.Type, outcome.Error.Message, outcome.Error.Remedy = runtimes.Interrupted, "The run was cancelled at the service.", "Run it again."
		}
	}
	outcome.ExitCode = a.ExitCode
	outcome.Usage.Start = time.Duration(min(max(a.Metrics.QueuedMs+a.Metrics.StartMs, 0), maxStart) * float64(time.Millisecond))
	outcome.Usage.PeakMemory = max(a.Metrics.PeakMemoryBytes, 0)
	outcome.Usage.GPU = time.Duration(min(max(a.Metrics.GPUMs, 0), maxGPUMs) * float64(time.Millisecond))
	outcome.Usage.RemoteCost = min(max(a.Metrics.RemoteCost, 0), maxCost)
	return outcome
}
