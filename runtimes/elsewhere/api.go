package elsewhere

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// MaxAttempts limits how often a request is sent, and MaxReply the size of an answer. MaxListed limits the items of a list.
const (
	MaxAttempts = 4
	MaxReply    = 4 << 20
	MaxListed   = 1000
)

// Statuses of a service that have a handling of their own.
const (
	Unauthorized = 401
	Forbidden    = 403
	Absent       = 404
	tooMany      = 429
	unavailable  = 503
)

// Status is the error of a service's answer.
type Status struct {
	Service string
	Code    int
	Message string
}

func (s *Status) Error() string {
	return fmt.Sprintf("%s answered with status %d: %s", s.Service, s.Code, s.Message)
}

// StatusOf returns the status of a service's answer, 0 if the error has another cause.
func StatusOf(err error) int {
	var s *Status
	if errors.As(err, &s) {
		return s.Code
	}
	return 0
}

// Send sends a request with a JSON body to the API of a service, and decodes the answer. It returns the answer's headers.
func (e *Engine) Send(ctx context.Context, service, method, address string, head http.Header, body, into any) (http.Header, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header = head
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "atelier")
	answer, err := e.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, MaxReply))
	if answer.StatusCode >= 300 {
		var problem struct{ Message string }
		_ = json.Unmarshal(data, &problem) // the status says enough
		return nil, &Status{service, answer.StatusCode, problem.Message}
	}
	if err == nil && into != nil {
		err = json.Unmarshal(data, into)
	}
	return answer.Header, err
}

// Create sends a request that creates something, again if the service is busy. A request that may have created something is
// not sent again; the janitor removes it.
func Create(ctx context.Context, pause func(attempt int) time.Duration, send func() error) error {
	for attempt := 1; ; attempt++ {
		err := send()
		code := StatusOf(err)
		if code != tooMany && code != unavailable || attempt == MaxAttempts || !Pause(ctx, pause(attempt)) {
			return err
		}
	}
}

// Remove sends a request that removes something until it succeeds or gone reports that the thing is gone.
func Remove(ctx context.Context, pause func(attempt int) time.Duration, send func() error, gone func() bool) error {
	for attempt := 1; ; attempt++ {
		err := send()
		if err == nil || StatusOf(err) == Absent || gone() {
			return nil
		}
		if attempt == MaxAttempts || !Pause(ctx, pause(attempt)) {
			return err
		}
	}
}

// Pause waits. It reports false if the context ends first.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// NotStarted explains an error of a service before a program has started. reasons has a sentence for statuses, and for 0 the
// sentence about a service that does not answer.
func NotStarted(service string, err error, reasons map[int]string) error {
	code := StatusOf(err)
	reason, known := reasons[code]
	if !known {
		reason = fmt.Sprintf("%s answered with status %d.", service, code)
	}
	return &fault.Error{Code: fault.RuntimeUnavailable, Message: "The program was not started: " + reason, Err: err, RetryAfter: 10 * time.Second}
}
