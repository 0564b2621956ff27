// Package opa asks an external policy service whether a run may start. It uses the API of the Open Policy Agent. If the
// answer is missing or late, or if the rule is undefined, the run is denied.
package opa

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/jcs"
)

// Question is the input of the policy rule.
type Question struct {
	Tenant   string  `json:"tenant"`     // name of the workspace
	Persona  string  `json:"persona_id"` // ID of the caller
	Action   string  `json:"action"`
	Resource string  `json:"resource"` // name of the agent; "inline" for code without an agent
	Context  Context `json:"context"`
}

// Context holds the details of the run that the policy rule may use.
type Context struct {
	Args     json.RawMessage   `json:"args"`
	Metadata map[string]string `json:"metadata"`
}

// ExecuteAction is the action that every question contains.
const ExecuteAction = "tool.execute"

// Answer is the decision about a run. A denial has a reason. If the service failed, the denial also has a remedy.
type Answer struct {
	Allowed bool
	Reason  string
	Remedy  string
}

const (
	answerTimeout = 2 * time.Second // maximum duration of one request
	maxAnswer     = 64 << 10        // maximum size of an answer in bytes
	maxCached     = 4096
	maxArgs       = 1 << 20 // maximum size of the input in bytes; a run with a larger input is denied
	deniedText    = "The policy service denies this run."
)

// Options configures a Service.
type Options struct {
	URL  string // address of the service, without a path
	Path string // path of the rule, for example /v1/data/soma/allow
	TTL  time.Duration
	Now  func() time.Time
}

// Service sends questions to the policy service and caches the decisions. It is safe for concurrent use.
type Service struct {
	Options

	address string
	client  *http.Client

	mu     sync.Mutex
	cached map[string]cached
}

type cached struct {
	answer Answer
	until  time.Time
}

// New returns a service.
func New(o Options) *Service {
	transport := &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: answerTimeout}
	return &Service{
		Options: o, address: strings.TrimSuffix(o.URL, "/") + "/" + strings.TrimPrefix(o.Path, "/"), cached: map[string]cached{},
		client: &http.Client{Timeout: answerTimeout, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Close closes idle connections.
func (s *Service) Close() { s.client.CloseIdleConnections() }

// Ask returns the decision of the policy service. Decisions are cached for a short time; failures are not cached.
func (s *Service) Ask(ctx context.Context, q Question) Answer {
	if len(q.Context.Args) > maxArgs {
		return Answer{Reason: "The input is too large for the policy service.", Remedy: "Send less than 1 MiB of input, or store large data elsewhere and send its address."}
	}
	text, err := json.Marshal(map[string]any{"input": q})
	if err != nil {
		return s.failed(err)
	}
	key, err := jcs.Digest(text)
	if err != nil {
		return s.failed(err)
	}
	if answer, ok := s.known(key); ok {
		return answer
	}
	answer, err := s.ask(ctx, text)
	if err != nil {
		return s.failed(err)
	}
	s.keep(key, answer)
	return answer
}

func (s *Service) known(key string) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.cached[key]
	return c.answer, ok && s.Now().Before(c.until)
}

func (s *Service) keep(key string, answer Answer) {
	if s.TTL <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cached) >= maxCached {
		clear(s.cached)
	}
	s.cached[key] = cached{answer, s.Now().Add(s.TTL)}
}

// Forget clears the cache, so that the next question is sent to the policy service.
func (s *Service) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.cached)
}

func (s *Service) ask(ctx context.Context, text []byte) (Answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, bytes.NewReader(text))
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(r)
	if err != nil {
		return Answer{}, errUnreachable(err)
	}
	defer func() { _ = response.Body.Close() }() // The body was read, so an error of Close has no effect.
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return Answer{}, errUnreachable(err)
	case response.StatusCode != http.StatusOK:
		return Answer{}, fmt.Errorf("it answered %s", response.Status)
	case len(body) > maxAnswer:
		return Answer{}, errors.New("its answer is too large")
	}
	var said struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return Answer{}, errors.New("its answer is not valid JSON")
	}
	switch string(said.Result) {
	case "true":
		return Answer{Allowed: true}, nil
	case "false":
		return Answer{Reason: deniedText, Remedy: "Ask the maintainer of the policy to allow the run. The request is stored, and an approver can submit it again."}, nil
	case "", "null":
		return Answer{Reason: "The policy service has no rule at " + s.Path + ", so the run is denied.", Remedy: "Load a policy that defines the rule, or set --policy-path."}, nil
	}
	return Answer{}, errors.New("its result is neither true nor false")
}

// errUnreachable describes a transport error without its details, because callers must not learn addresses in the
// network of the service.
func errUnreachable(err error) error {
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		return fmt.Errorf("it did not answer within %s", answerTimeout)
	}
	return errors.New("it cannot be reached")
}

// failed returns the denial for a run about which the policy service could not decide.
func (s *Service) failed(err error) Answer {
	return Answer{Reason: "The policy service gave no decision, so the run is denied.", Remedy: "Check that the policy service runs and that --policy-url is correct: " + err.Error() + "."}
}
