package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// wall is a sandbox that only reports its level.
type wall struct{}

func (wall) Level() sandbox.Level { return sandbox.Level{Level: sandbox.LevelFull} }
func (wall) Host() sandbox.Host   { return sandbox.Host{} }
func (wall) Prepare(context.Context, sandbox.Profile) (*sandbox.Jail, error) {
	return nil, errors.New("this test has no sandboxes")
}

// greeter answers like the ordinary program for a limited number of runs, and then fails.
type greeter struct{ left int }

func (g *greeter) Run(_ context.Context, _ runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	if g.left--; g.left < 0 {
		return runtimes.Outcome{}, errors.New("it broke")
	}
	host.Emit(runtimes.Event{Kind: runtimes.KindStdout, Data: json.RawMessage(`"hello Ada"`)})
	return runtimes.Outcome{Output: json.RawMessage(`{"greeting":"Hello, Ada"}`), Level: "full"}, nil
}

// TestEachLanguageIsTimed checks that an error in one language does not prevent the timing of later languages.
func TestEachLanguageIsTimed(t *testing.T) {
	t.Parallel()
	report := doctor.New(doctor.Options{
		Box: wall{}, Only: []doctor.Group{doctor.Speed}, Look: func() doctor.Facts { return doctor.Facts{} },
		Engines: []doctor.Engine{{Language: runtimes.Bash, Runtime: &greeter{left: 3}}, {Language: runtimes.Python, Runtime: &greeter{left: 100}}},
	}).Full(t.Context())
	timed := map[runtimes.Language]doctor.Verdict{}
	for _, c := range report.Checks {
		if c.Group == doctor.Speed {
			timed[c.Language] = c.Verdict
		}
	}
	if len(timed) != 2 || timed[runtimes.Bash] != doctor.Fail || timed[runtimes.Python] != doctor.Pass {
		t.Errorf("%v", timed)
	}
}
