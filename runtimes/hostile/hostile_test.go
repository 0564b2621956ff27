package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// attack is a hostile program with the result that it must have.
type attack struct {
	class     hostile.Class
	name      string
	source    string
	file      string // name of a program of the catalogue, instead of source
	alongside string // program of the catalogue that runs at the same time
	edit      func(*runtimes.Job)
	types     []runtimes.ErrorType // any of these; none if it must succeed
	output    string               // required output, if any
	again     bool                 // runs twice, and only the second result is checked
	mute      bool                 // fails before its first line, so it prints nothing
	check     func(*testing.T, runtimes.Outcome, *runtimetest.Host)
}

// sign is printed by every program before the attack. It must be in the output of a run that fails.
const sign = "the program began"

// second is the time that a run may take in addition to its time limit.
const second = time.Second

func TestHostile(t *testing.T) {
	t.Parallel()
	all := map[runtimes.Language]struct {
		number  int
		attacks []attack
	}{
		runtimes.JavaScript: {javascriptServer, javascript()}, runtimes.TypeScript: {typescriptServer, typescript()},
		runtimes.Python: {pythonServer, pythonAttacks()}, runtimes.Bash: {bashServer, bashAttacks()},
		hostile.Node: {nodeServer, nodeAttacks()},
	}
	for language, one := range all {
		t.Run(string(language), func(t *testing.T) {
			t.Parallel()
			h := open(t, language, one.number)
			for _, a := range one.attacks { // one after another, because each loads the whole machine
				t.Run(string(a.class)+"/"+a.name, func(t *testing.T) {
					defer func() { matrix.Case(a.class, language, !t.Failed()) }()
					h.suffer(t, a)
					h.hello(t)
					h.noRemains(t)
				})
			}
		})
	}
}

// suffer runs an attack and checks its result, and that the next run works.
func (h *server) suffer(t *testing.T, a attack) {
	t.Helper()
	c := plant(t)
	if a.alongside != "" {
		defer h.neighbour(t, c, a)()
	}
	if a.again { // the second run finds the remains of the first
		h.attack(t, a, c)
	}
	outcome, host, limit := h.attack(t, a, c)
	if outcome.Usage.Run > limit+second { // other load on the machine may delay one run, but a hang is late the second time too
		t.Logf("ended after %v", outcome.Usage.Run)
		if outcome, host, limit = h.attack(t, a, c); outcome.Usage.Run > limit+second {
			t.Errorf("ended after %v, the limit is %v", outcome.Usage.Run, limit)
		}
	}
	switch {
	case len(a.types) > 0 && (outcome.Error == nil || !slices.Contains(a.types, outcome.Error.Type)):
		t.Errorf("%+v, output %.200s, want %v\nstderr %.1000s", outcome.Error, outcome.Output, a.types, host.Stderr(t))
	case len(a.types) == 0 && a.check == nil && outcome.Error != nil:
		t.Errorf("%+v\nstderr %.1000s", outcome.Error, host.Stderr(t))
	case a.output != "" && string(outcome.Output) != a.output:
		t.Errorf("answered %s, want %s", outcome.Output, a.output)
	}
	if outcome.Error != nil && outcome.Error.Message == "" {
		t.Errorf("nothing said: %+v", outcome.Error)
	}
	if !a.mute && !strings.HasPrefix(host.Stderr(t), sign) {
		t.Errorf("the output before the attack is missing: stderr %.200q", host.Stderr(t))
	}
	if a.check != nil {
		a.check(t, outcome, host)
	}
	printable(t, outcome, host)
	c.untouched(t)
}

// attack runs the program once. It also returns the time limit of the run.
func (h *server) attack(t *testing.T, a attack, c *canaries) (outcome runtimes.Outcome, host *runtimetest.Host, limit time.Duration) {
	t.Helper()
	job := h.job(t, a, a.file, c)
	outcome, host = runtimetest.Run(t, h, job)
	return outcome, host, job.Limits.Timeout()
}

// job returns the program as a job. It adds a statement that prints sign, and inserts the values that the program may
// know.
func (h *server) job(t *testing.T, a attack, file string, c *canaries) runtimes.Job {
	t.Helper()
	text := a.source
	if file != "" {
		if text = attacks.Source(h.language, file); text == "" {
			t.Fatalf("the catalogue has no %s in %s", file, h.language)
		}
	}
	if !a.mute {
		text = map[runtimes.Language]string{
			runtimes.Python: "import sys; print('" + sign + "', file=sys.stderr)\n", runtimes.Bash: "echo '" + sign + "' >&2\n",
			runtimes.JavaScript: "console.error('" + sign + "');\n", runtimes.TypeScript: "console.error('" + sign + "');\n",
			hostile.Node: "console.error('" + sign + "');\n",
		}[h.language] + text
	}
	job := h.programs.Job(text)
	job.Environment = maps.Clone(c.environment)
	if a.edit != nil {
		a.edit(&job)
	}
	return job
}

// neighbour starts the program that runs next to an attack, and returns a function that ends it.
func (h *server) neighbour(t *testing.T, c *canaries, a attack) func() {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	host := runtimetest.NewHost()
	job := h.job(t, attack{edit: a.edit, mute: true}, a.alongside, c)
	var running sync.WaitGroup
	running.Go(func() {
		outcome, err := h.Run(ctx, job, host)
		if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Cancelled {
			t.Errorf("the neighbour ended with %+v, %v: %s", outcome.Error, err, host.Stderr(t))
		}
		cancel()
	})
	if err := host.Wait(ctx, t, "started"); err != nil {
		t.Errorf("the neighbour did not start: %v", err)
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// printable checks that the result and the events of a run contain no control characters that a terminal would execute.
func printable(t *testing.T, outcome runtimes.Outcome, host *runtimetest.Host) {
	t.Helper()
	text, err := json.Marshal(outcome)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range host.Events() {
		text = append(append(text, '\n'), e.Data...)
	}
	if i := bytes.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 {
		t.Errorf("a control character: %.60q", text[i:])
	}
}

// wants returns a check that requires an output.
func wants(output string) func(*testing.T, runtimes.Outcome, *runtimetest.Host) {
	return func(t *testing.T, o runtimes.Outcome, _ *runtimetest.Host) {
		t.Helper()
		if string(o.Output) != output {
			t.Errorf("%s, %+v, want %s", o.Output, o.Error, output)
		}
	}
}

// bare removes the environment of a run.
func bare(j *runtimes.Job) { j.Environment = nil }
