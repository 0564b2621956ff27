package bacalhau

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// maxLine limits one message of live output.
const maxLine = 4 << 20

// line is one message of live output. Type 1 is stdout and 2 is stderr.
type line struct {
	Value struct {
		Type int
		Line string
	} `json:"value"`
}

// logs passes the live output of a job on until the context ends. Output that does not arrive here is read from the
// result, so a stream that cannot be opened again is no failure.
func (r *run) logs(ctx context.Context, id string) {
	for attempt := 1; attempt <= maxAttempts && ctx.Err() == nil; attempt++ {
		whole := r.stream(ctx, id)
		if whole || !r.engine.pause(ctx, r.engine.options.Poll<<attempt) {
			return
		}
	}
}

// stream reads one stream of live output. Each stream begins with the first output of the job, so a repeated one skips as
// many bytes as were passed on. It reports whether the stream ended by itself.
func (r *run) stream(ctx context.Context, id string) bool {
	dialer := websocket.Dialer{HandshakeTimeout: requestWithin, Proxy: http.ProxyFromEnvironment}
	head := http.Header{}
	r.engine.sign(head)
	address := "ws" + strings.TrimPrefix(r.engine.base, "http") + "/orchestrator/jobs/" + url.PathEscape(id) + "/logs?follow=true"
	conn, answer, err := dialer.DialContext(ctx, address, head)
	if answer != nil {
		defer answer.Body.Close()
	}
	if err != nil {
		return false
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	conn.SetReadLimit(maxLine)
	r.mu.Lock()
	skip := map[bool]int{false: r.stdout.Len(), true: r.stderr.Len()}
	r.mu.Unlock()
	for {
		var message line
		if err := conn.ReadJSON(&message); err != nil {
			return websocket.IsCloseError(err, websocket.CloseNormalClosure)
		}
		stderr := message.Value.Type == 2
		if message.Value.Type != 1 && !stderr {
			continue
		}
		text := []byte(message.Value.Line)
		known := min(skip[stderr], len(text))
		skip[stderr] -= known
		if known < len(text) && !r.print(ctx, stderr, text[known:]) {
			return true
		}
	}
}
