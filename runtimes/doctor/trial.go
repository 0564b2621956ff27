package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Workspace is the workspace of the doctor's runs. It is a separate workspace, so that no other run uses the same
// worker. The server's ceiling of grants does not apply to it.
const Workspace = "atelier-doctor"

// entrypoint returns the name of the entry file of a language.
func entrypoint(language runtimes.Language) string { return "main." + attacks.Suffix(language) }

// trial is one run with its results.
type trial struct {
	outcome runtimes.Outcome
	err     error // error of the server, not of the program
	stdout  string
	stderr  string
	took    time.Duration
}

// failure returns the reason why a run failed, or "" if the run succeeded.
func (t trial) failure() string {
	switch {
	case t.err != nil:
		return t.err.Error()
	case t.outcome.Error != nil:
		return fmt.Sprintf("%s: %s", t.outcome.Error.Type, firstLine(t.outcome.Error.Message))
	}
	return ""
}

// kind returns the type of a program's error, or "" for success.
func (t trial) kind() runtimes.ErrorType {
	if t.outcome.Error == nil {
		return ""
	}
	return t.outcome.Error.Type
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if len(line) > 200 {
		line = line[:200] + "…"
	}
	return strings.ToValidUTF8(line, "\uFFFD")
}

// job returns a job for a program, with the limits of a small agent.
func job(e Engine, text string, edit ...func(*runtimes.Job)) runtimes.Job {
	language := e.Language
	if language == Node {
		language = runtimes.JavaScript
	}
	j := runtimes.Job{
		RunID: "doctor", Workspace: Workspace, Language: language, Runtime: e.Name, Entrypoint: entrypoint(e.Language),
		Files: map[string][]byte{entrypoint(e.Language): []byte(text)}, Input: json.RawMessage("{}"), Limits: runtimes.DefaultLimits(),
	}
	j.Limits.TimeoutMs = programTimeout.Milliseconds()
	for _, change := range edit {
		change(&j)
	}
	return j
}

// programTimeout is the time limit of all programs except those that test the time limit.
const programTimeout = 10 * time.Second

// run runs a program and waits for its end.
func run(ctx context.Context, e Engine, j runtimes.Job) trial {
	host := newRecorder()
	began := time.Now()
	outcome, err := e.Runtime.Run(ctx, j, host)
	t := trial{outcome: outcome, err: err, took: time.Since(began)}
	t.stdout, t.stderr = host.text()
	return t
}

func input(value any) func(*runtimes.Job) {
	return func(j *runtimes.Job) {
		if text, err := json.Marshal(value); err == nil {
			j.Input = text
		}
	}
}

// hello runs a program that must always work. It returns the reason for a failure, or "" if the program succeeded.
func hello(ctx context.Context, e Engine) (trial, string) {
	t := run(ctx, e, job(e, attacks.Source(e.Language, "hello"), input(map[string]string{"name": "Ada"})))
	var got struct{ Greeting string }
	switch wrong := t.failure(); {
	case wrong != "":
		return t, wrong
	case json.Unmarshal(t.outcome.Output, &got) != nil || got.Greeting != "Hello, Ada":
		return t, "it returned " + firstLine(string(t.outcome.Output))
	case !strings.Contains(t.stdout, "hello Ada"):
		return t, "its output did not arrive"
	case t.outcome.Level == sandbox.LevelNone:
		return t, "the run reports that it was not isolated"
	}
	return t, ""
}
