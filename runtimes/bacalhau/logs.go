package bacalhau

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/atelier-run/atelier/runtimes/elsewhere"
)

// maxLine is the maximum size of one message of live output, in bytes.
const maxLine = 4 << 20

// line is one message of live output: a part of stdout (type 1) or stderr (type 2), or an error.
type line struct {
	Error string `json:"error"`
	Value struct {
		Type int
		Line string
	} `json:"value"`
}

// logs forwards the live output of a job until the context ends. If a stream has ended, logs opens it again: while a
// node prepares the program, it ends streams with the error that there is no execution. Output that is missing in the
// stream is read from the result later.
func (r *run) logs(ctx context.Context, id string) {
	pause := r.engine.options.Poll
	for r.stream(ctx, id) && elsewhere.Pause(ctx, pause) {
		pause = min(pause*3/2, maxPoll)
	}
}

// stream reads one stream of live output. Each stream begins with the first output of the job, so a reopened stream
// skips the bytes that were already forwarded. stream returns false when the output limit is exceeded.
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
		return true
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	conn.SetReadLimit(maxLine)
	r.mu.Lock()
	skip := map[bool]int{false: r.stdout.Len(), true: r.stderr.Len()}
	r.mu.Unlock()
	for {
		var message line
		if err := conn.ReadJSON(&message); err != nil || message.Error != "" {
			return true
		}
		stderr := message.Value.Type == 2
		if message.Value.Type != 1 && !stderr {
			continue
		}
		text := []byte(message.Value.Line)
		known := min(skip[stderr], len(text))
		skip[stderr] -= known
		if known < len(text) && !r.print(ctx, stderr, text[known:]) {
			return false
		}
	}
}
