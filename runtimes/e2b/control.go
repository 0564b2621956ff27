package e2b

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// Tags of a sandbox.
const (
	tagOwner = "atelier-owner"
	tagRun   = "atelier-run"
)

// allTraffic denies every destination that is not allowed.
const allTraffic = "0.0.0.0/0"

// These constants limit requests to the control API.
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

// sandbox is a sandbox as the control API describes it.
type sandbox struct {
	SandboxID    string            `json:"sandboxID"`
	AccessToken  string            `json:"envdAccessToken"`
	TrafficToken string            `json:"trafficAccessToken"`
	Domain       string            `json:"domain"`
	Metadata     map[string]string `json:"metadata"`
}

// status is an answer of the control API with an error.
type status struct {
	code    int
	message string
}

func (s *status) Error() string {
	return fmt.Sprintf("E2B answered with status %d: %s", s.code, s.message)
}

// create creates a sandbox. A request that may have created one is not repeated; the janitor deletes it.
func (e *Engine) create(ctx context.Context, run string, allowed []string, lives time.Duration) (sandbox, error) {
	body := map[string]any{
		"templateID": e.options.Template, "timeout": int(lives.Seconds()), "secure": true, "allow_internet_access": false,
		"metadata": map[string]string{tagOwner: e.options.Owner, tagRun: run},
	}
	if len(allowed) > 0 {
		// E2B refuses names without this entry, whatever allow_internet_access says.
		body["network"] = map[string]any{"allowOut": allowed, "denyOut": []string{allTraffic}}
	}
	var box sandbox
	var err error
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		if err = e.control(ctx, http.MethodPost, "/sandboxes", body, &box); err == nil {
			break
		}
		var s *status
		if !errors.As(err, &s) || s.code != tooMany && s.code != unavailable || !e.pause(ctx, attempt) {
			break
		}
	}
	if err == nil && (!plain(box.SandboxID) || box.Domain != "" && !plain(box.Domain)) {
		err = errors.New("E2B answered without a valid sandbox")
	}
	if err != nil {
		return sandbox{}, failed(err)
	}
	return box, nil
}

// failed explains an error of the control API.
func failed(err error) error {
	refused := fault.New(fault.RuntimeUnavailable, "The program was not started: E2B is unreachable. Check E2B_API_URL and try again later.")
	var s *status
	if errors.As(err, &s) {
		refused.Message = fmt.Sprintf("The program was not started: E2B answered with status %d.", s.code)
		switch s.code {
		case unauthorized, forbidden:
			refused.Message = "The program was not started: E2B refused the key. Check E2B_API_KEY."
		case absent:
			refused.Message = "The program was not started: E2B does not know the template. Check E2B_TEMPLATE."
		}
	}
	refused.Err, refused.RetryAfter = err, 10*time.Second
	return refused
}

// plain reports whether text from E2B may be part of a host name.
func plain(text string) bool {
	return text != "" && len(text) <= 200 && !strings.ContainsFunc(text, func(c rune) bool {
		return c != '-' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// pause waits before a repetition. It reports whether to go on.
func (e *Engine) pause(ctx context.Context, attempt int) bool {
	timer := time.NewTimer(e.options.Backoff + rand.N(e.options.Backoff<<attempt))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// remove deletes a sandbox.
func (e *Engine) remove(ctx context.Context, id string) error {
	var err error
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		err = e.control(ctx, http.MethodDelete, "/sandboxes/"+url.PathEscape(id), nil, nil)
		var s *status
		if err == nil || errors.As(err, &s) && s.code == absent {
			return nil
		}
		if !e.pause(ctx, attempt) {
			break
		}
	}
	return err
}

// list lists the sandboxes of this server.
func (e *Engine) list(ctx context.Context) ([]sandbox, error) {
	var all []sandbox
	query := url.Values{"metadata": {url.Values{tagOwner: {e.options.Owner}}.Encode()}, "limit": {"100"}}
	for len(all) < maxListed {
		var page []sandbox
		next, err := e.request(ctx, http.MethodGet, "/v2/sandboxes?"+query.Encode(), nil, &page)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); next == "" {
			break
		}
		query.Set("nextToken", next)
	}
	return all, nil
}

func (e *Engine) control(ctx context.Context, method, path string, body, into any) error {
	_, err := e.request(ctx, method, path, body, into)
	return err
}

// request sends one request to the control API. It returns the token of the next page.
func (e *Engine) request(ctx context.Context, method, path string, body, into any) (next string, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return "", err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(e.options.API, "/")+path, bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	request.Header.Set("X-API-Key", e.options.Key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "atelier")
	answer, err := e.HTTP.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxReply))
	if answer.StatusCode >= 300 {
		var problem struct{ Message string }
		_ = json.Unmarshal(data, &problem) // the status says enough
		return "", &status{answer.StatusCode, problem.Message}
	}
	if err == nil && into != nil {
		err = json.Unmarshal(data, into)
	}
	return answer.Header.Get("X-Next-Token"), err
}
