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

// MaxAttempts is the maximum number of times that a request is sent. MaxReply is the maximum size of an answer in
// bytes. MaxListed is the number of items after which no further pages of a list are read.
const (
	MaxAttempts = 4
	MaxReply    = 4 << 20
	MaxListed   = 1000
)

// HTTP statuses of a service that are handled specially.
const (
	Unauthorized = 401
	Forbidden    = 403
	Absent       = 404
	tooMany      = 429
	unavailable  = 503
)

// Status is the error for an answer of a service with an HTTP error status.
type Status struct {
	Service string
	Code    int
	Message string
}

func (s *Status) Error() string {
	return fmt.Sprintf("%s answered with status %d: %s", s.Service, s.Code, s.Message)
}

// StatusOf returns the HTTP status in err. It returns 0 if err was not caused by an answer with an error status.
func StatusOf(err error) int {
	var s *Status
	if errors.As(err, &s) {
		return s.Code
	}
	return 0
}

// Send sends a request with a JSON body to the API of a service, and decodes the answer into into. It returns the
// answer's headers. If into is a func(io.Reader) error, Send calls it with the body of a successful answer, which may
// have any size.
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
	if read, ok := into.(func(io.Reader) error); ok && answer.StatusCode < 300 {
		return answer.Header, read(answer.Body)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, MaxReply))
	if answer.StatusCode >= 300 {
		var problem struct{ Message string }
		_ = json.Unmarshal(data, &problem) // the message is optional, because the status is enough
		return nil, &Status{service, answer.StatusCode, problem.Message}
	}
	if err == nil && into != nil {
		err = json.Unmarshal(data, into)
	}
	return answer.Header, err
}

// Create sends a request that creates a job or sandbox. It repeats the request only if the service was busy and created
// nothing. After other errors the job or sandbox may exist; Clean removes it later.
func Create(ctx context.Context, pause func(attempt int) time.Duration, send func() error) error {
	for attempt := 1; ; attempt++ {
		err := send()
		code := StatusOf(err)
		if code != tooMany && code != unavailable || attempt == MaxAttempts || !Pause(ctx, pause(attempt)) {
			return err
		}
	}
}

// Remove sends a request that removes a job or sandbox. It repeats the request until it succeeds, gone reports that the
// job or sandbox no longer exists, or MaxAttempts is reached.
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

// Pause waits for a duration. It returns false if the context ends first.
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

// NotStarted returns the server error for an error of a service that occurred before the program started. reasons maps an
// HTTP status to a sentence for the user, and 0 to the sentence for a service that does not answer.
func NotStarted(service string, err error, reasons map[int]string) error {
	code := StatusOf(err)
	reason, known := reasons[code]
	if !known {
		reason = fmt.Sprintf("%s answered with status %d.", service, code)
	}
	return &fault.Error{Code: fault.RuntimeUnavailable, Message: "The program was not started: " + reason, Err: err, RetryAfter: 10 * time.Second}
}
