package e2b

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes/elsewhere"
)

// Metadata keys of a sandbox.
const (
	tagOwner = "atelier-owner"
	tagRun   = "atelier-run"
)

// allTraffic denies every destination that the list of allowed destinations does not contain.
const allTraffic = "0.0.0.0/0"

// sandbox is the JSON of a sandbox in the control API.
type sandbox struct {
	SandboxID    string            `json:"sandboxID"`
	AccessToken  string            `json:"envdAccessToken"`
	TrafficToken string            `json:"trafficAccessToken"`
	Domain       string            `json:"domain"`
	Metadata     map[string]string `json:"metadata"`
}

// create creates a sandbox.
func (e *Engine) create(ctx context.Context, run string, allowed []string, lives time.Duration) (sandbox, error) {
	body := map[string]any{
		"templateID": e.options.Template, "timeout": int(lives.Seconds()), "secure": true, "allow_internet_access": false,
		"metadata": map[string]string{tagOwner: e.options.Owner, tagRun: run},
	}
	if len(allowed) > 0 {
		// Without this entry E2B refuses host names in allowOut, even if allow_internet_access is false.
		body["network"] = map[string]any{"allowOut": allowed, "denyOut": []string{allTraffic}}
	}
	var box sandbox
	err := elsewhere.Create(ctx, e.pause, func() error { return e.control(ctx, http.MethodPost, "/sandboxes", body, &box) })
	if err == nil && (!plain(box.SandboxID) || box.Domain != "" && !plain(box.Domain)) {
		err = errors.New("the answer of E2B has no valid sandbox ID or domain")
	}
	if err != nil {
		return sandbox{}, failed(err)
	}
	return box, nil
}

// failed returns the server error for an error of the control API that occurred before the program started.
func failed(err error) error {
	const key = "E2B rejected the API key. Check E2B_API_KEY."
	return elsewhere.NotStarted(service.Name, err, map[int]string{
		0:                      "E2B is unreachable. Check E2B_API_URL and try again later.",
		elsewhere.Unauthorized: key, elsewhere.Forbidden: key,
		elsewhere.Absent: "E2B does not know the template. Check E2B_TEMPLATE.",
	})
}

// plain reports whether a text from E2B is safe to use in a host name: only ASCII letters, digits, dots and hyphens.
func plain(text string) bool {
	return text != "" && len(text) <= 200 && !strings.ContainsFunc(text, func(c rune) bool {
		return c != '-' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// pause returns the pause before the next attempt. The pause is random and grows with each attempt.
func (e *Engine) pause(attempt int) time.Duration {
	return e.options.Backoff + rand.N(e.options.Backoff<<attempt)
}

// remove deletes a sandbox.
func (e *Engine) remove(ctx context.Context, id string) error {
	return elsewhere.Remove(ctx, e.pause, func() error {
		return e.control(ctx, http.MethodDelete, "/sandboxes/"+url.PathEscape(id), nil, nil)
	}, func() bool { return false })
}

// list lists the sandboxes of this server.
func (e *Engine) list(ctx context.Context) ([]sandbox, error) {
	var all []sandbox
	query := url.Values{"metadata": {url.Values{tagOwner: {e.options.Owner}}.Encode()}, "limit": {"100"}}
	for len(all) < elsewhere.MaxListed {
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
	head, err := e.Send(ctx, service.Name, method, strings.TrimRight(e.options.API, "/")+path, http.Header{"X-Api-Key": {e.options.Key}}, body, into)
	return head.Get("X-Next-Token"), err
}
