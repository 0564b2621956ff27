package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// request is an HTTP request with the required response of the server.
type request struct {
	name, method, path string
	host               string
	headers            map[string]string
	want               []fault.Code // allowed error codes; "" for success
	status             int          // required status; 0: any status
}

const (
	stranger  = "evil.example"
	forbidden = 403 // written as a number, so that the check does not depend on constants of the server
)

func requests() []request {
	socket := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
	with := func(more map[string]string, origin string) map[string]string {
		all := map[string]string{"Origin": origin}
		for name, value := range more {
			all[name] = value
		}
		return all
	}
	json := map[string]string{"Content-Type": "application/json"}
	const stream = "/api/v1/runs/00000000-0000-0000-0000-000000000000/stream"
	return []request{
		{name: "the correct host name", method: http.MethodGet, path: "/health", want: []fault.Code{""}},
		{name: "a wrong host name", method: http.MethodGet, path: "/health", host: stranger, want: []fault.Code{fault.BadHost}, status: forbidden},
		{name: "a wrong host name with a port", method: http.MethodGet, path: "/studio/", host: stranger + ":8002", want: []fault.Code{fault.BadHost}, status: forbidden},
		{name: "a wrong origin", method: http.MethodPost, path: "/api/v1/execute", headers: with(json, "https://"+stranger), want: []fault.Code{fault.BadOrigin}, status: forbidden},
		{name: "no origin", method: http.MethodPost, path: "/api/v1/session", headers: with(json, "null"), want: []fault.Code{fault.BadOrigin}, status: forbidden},
		{name: "a page of another site", method: http.MethodDelete, path: "/api/v1/session", headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, want: []fault.Code{fault.BadOrigin}, status: forbidden},
		{name: "a WebSocket from a wrong origin", method: http.MethodGet, path: stream, headers: with(socket, "https://"+stranger), want: []fault.Code{fault.BadOrigin}, status: forbidden},
		{name: "a WebSocket with a wrong host name", method: http.MethodGet, path: stream, host: stranger, headers: with(socket, "http://"+stranger), want: []fault.Code{fault.BadHost}, status: forbidden},
		{name: "skills from a page of another site", method: http.MethodGet, path: "/skills/list", headers: with(nil, "https://"+stranger), want: []fault.Code{fault.Unauthenticated}},
		{name: "skills with a wrong host name", method: http.MethodGet, path: "/skills/list", host: stranger, want: []fault.Code{fault.BadHost}, status: forbidden},
		{name: "no token", method: http.MethodPost, path: "/api/v1/execute", headers: json, want: []fault.Code{fault.Unauthenticated}},
		{name: "a WebSocket without a token", method: http.MethodGet, path: stream, headers: socket, want: []fault.Code{fault.Unauthenticated}},
	}
}

// http sends requests to a server. The requests are those of a hostile web page or of a client without a token.
func (d *Doctor) http(ctx context.Context, _ []Engine) {
	if d.Server == "" {
		return
	}
	client := &http.Client{Timeout: programTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	for _, r := range requests() {
		code, status, err := r.send(ctx, client, d.Server)
		d.add(r.judge(code, status, err))
	}
	skills := request{name: "skills without a token", method: http.MethodGet, path: "/skills/list", want: []fault.Code{fault.Unauthenticated}}
	code, status, err := skills.send(ctx, client, d.Server)
	d.add(skills.opened(skills.judge(code, status, err), status))
}

// opened returns the check for skills that are accessible without a token. Its verdict is Reduced and not Fail, because
// the operator may have chosen that.
func (request) opened(c Check, status int) Check {
	if status/100 == 2 {
		c.Verdict, c.Evidence = Reduced, "anybody on this machine can list and run skills without a token"
		c.Fix = "Start the server without --skills-anonymous, unless clients need it."
	}
	return c
}

func (r request) send(ctx context.Context, client *http.Client, base string) (fault.Code, int, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	address, err := url.JoinPath(base, r.path)
	if err != nil {
		return "", 0, err
	}
	var body io.Reader
	if r.method == http.MethodPost {
		body = strings.NewReader("{}")
	}
	q, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return "", 0, err
	}
	if r.host != "" {
		q.Host = r.host
	}
	for name, value := range r.headers {
		q.Header.Set(name, value)
	}
	answer, err := client.Do(q)
	if err != nil {
		return "", 0, err
	}
	defer answer.Body.Close()
	var problem struct{ Code fault.Code }
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/problem+json") {
		if err := json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&problem); err != nil {
			return "", answer.StatusCode, fmt.Errorf("read the answer: %w", err)
		}
	}
	return problem.Code, answer.StatusCode, nil
}

// judge returns the check for a response.
func (r request) judge(code fault.Code, status int, err error) Check {
	c := Check{Group: HTTP, Name: r.name, Verdict: Fail, Fix: ask}
	fine := slices.Contains(r.want, code) && (r.status == 0 || status == r.status) && (r.want[0] != "" || status/100 == 2)
	switch {
	case err != nil:
		c.Evidence, c.Fix = err.Error(), "Make sure that the server answers at the address in --server."
	case fine:
		c.Verdict, c.Evidence, c.Fix = Pass, strings.TrimSpace(fmt.Sprintf("%d %s", status, code)), ""
	default:
		c.Evidence = fmt.Sprintf("answered %d %s", status, code)
	}
	return c
}
