package worker_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// secret must not appear in any log, in any encoding. It consists of digits, so that a worker can also send it as a number.
const secret = "31415926"

func spelled() string {
	return strings.Join([]string{
		secret, base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)), url.QueryEscape(secret), strconv.Quote(secret), `\u0033\u00314` + secret[3:],
	}, "\n")
}

// TestHostileLastStderr checks that the log never contains data of a hostile worker, however it ends and wherever in
// the protocol it puts the data.
func TestHostileLastStderr(t *testing.T) {
	t.Parallel()
	die := func(a *actor) {
		a.set(func(_ *sandbox.Usage, e *sandbox.Exit) {
			e.Code, e.Stderr = 2, "panic: "+spelled()+"\nfatal error: stack overflow\n"
		})
	}
	header := func(kind frames.Kind) []byte { // header of a frame whose length field contains the secret
		return []byte{byte(kind), 0x76, 0x5e, 0xdf, 0x01}
	}
	tests := map[string]func(*actor){
		"on stderr":                         func(a *actor) { a.begin(); die(a) },
		"on stderr before the start":        func(a *actor) { a.read(); die(a) },
		"in the start":                      func(a *actor) { a.read(); a.send(frames.Started, secret+"x") },
		"in a number of a call":             func(a *actor) { a.begin(); a.send(frames.CallReq, `{"id":`+secret+`,"name":"log"}`) },
		"in a call's wrong type":            func(a *actor) { a.begin(); a.send(frames.CallReq, `{"id":1,"name":`+secret+`}`) },
		"in a call that is no JSON":         func(a *actor) { a.begin(); a.send(frames.CallReq, spelled()) },
		"in a result's wrong type":          func(a *actor) { a.begin(); a.send(frames.Done, `{"signal":"x","error":`+secret+`}`) },
		"in a result that is no JSON":       func(a *actor) { a.begin(); a.send(frames.Done, spelled()) },
		"in the length of a frame":          func(a *actor) { a.begin(); _, _ = a.client.Write(header(frames.Stdout)) },
		"in the length of a frame too soon": func(a *actor) { a.read(); _, _ = a.client.Write(header(frames.Started)) },
	}
	for name, play := range tests {
		for _, prompt := range []bool{false, true} {
			t.Run(name+", prompt "+strconv.FormatBool(prompt), func(t *testing.T) {
				t.Parallel()
				var log bytes.Buffer
				pool := newPool(t, worker.Options{Jailer: &troupe{t: t, play: play}, Log: telemetry.NewLog(&log, "json", slog.LevelDebug)})
				task := worker.Task{Job: job(), Payload: struct{}{}, Prompt: prompt}
				task.Job.Environment = map[string]string{"KEY": secret}
				outcome, err := pool.Run(t.Context(), task, newAudience())
				if err == nil && (outcome.Error == nil || !strings.Contains(log.String(), "worker ended unexpectedly")) {
					t.Errorf("%+v, log %q", outcome, log.String())
				}
				if err != nil && !fault.Is(err, fault.SandboxUnavailable) {
					t.Error(err)
				}
				text := log.String()
				if err != nil { // the server logs this text
					text += err.Error()
					for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
						text += cause.Error()
					}
				}
				if masked := redact.New([]string{secret}).Text(text); masked != text {
					t.Errorf("the log contains the secret: %s", text)
				}
			})
		}
	}
}

// TestLastStderrOfAWorkerThatKnowsNothing checks that the error contains the stderr of a worker that ended before it got a
// job. It shows why the host cannot start workers, and cannot contain data of programs.
func TestLastStderrOfAWorkerThatKnowsNothing(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t, play: func(a *actor) {
		a.read()
		a.set(func(_ *sandbox.Usage, e *sandbox.Exit) { e.Code, e.Stderr = 127, "libpython is not there" })
	}}
	pool := newPool(t, worker.Options{Jailer: jailer, Prelude: struct{}{}})
	_, err := pool.Run(t.Context(), worker.Task{Job: job()}, newAudience())
	if !fault.Is(err, fault.SandboxUnavailable) || !strings.Contains(err.Error(), "libpython is not there") {
		t.Error(err)
	}
}
