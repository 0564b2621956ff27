package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// Verdict is the answer of a check.
type Verdict string

// The verdicts. Reduced means that a wall is missing which others stand behind, and which the host or its operator can
// add; Fail means that a program could get out, or that nothing runs.
const (
	Pass    Verdict = "PASS"
	Reduced Verdict = "REDUCED"
	Fail    Verdict = "FAIL"
)

// Group gathers checks about one subject.
type Group string

// The groups, in the order in which a full report has them.
const (
	Environment Group = "environment"
	Controls    Group = "controls"
	Inside      Group = "inside"
	Syscalls    Group = "syscalls"
	Canaries    Group = "canaries"
	Limits      Group = "limits"
	Persistence Group = "persistence"
	Crashes     Group = "crashes"
	Speed       Group = "speed"
	HTTP        Group = "http"
)

// Groups are all groups, in order.
func Groups() []Group {
	return []Group{Environment, Controls, Inside, Syscalls, Canaries, Limits, Persistence, Crashes, Speed, HTTP}
}

// Check is one thing that was tried, and what came of it.
type Check struct {
	Group     Group             `json:"group"`
	Name      string            `json:"name"`
	Language  runtimes.Language `json:"language,omitempty"`
	Verdict   Verdict           `json:"verdict"`
	Evidence  string            `json:"evidence"`
	Fix       string            `json:"fix,omitempty"`
	Mechanism string            `json:"mechanism,omitempty"` // of sandbox.Mechanisms, where one stands behind it
}

// lookAround is the check that a program which looks around works at all.
const lookAround = "an inspection"

// Works says whether the check is about a language working at all, rather than about a wall.
func (c Check) Works() bool { return c.Group == Controls || c.Name == lookAround }

// Report is everything that was found.
type Report struct {
	Verdict Verdict `json:"verdict"`
	Level   string  `json:"level"` // of the sandbox, as it is kept with each run
	Passed  int     `json:"passed"`
	Reduced int     `json:"reduced"`
	Failed  int     `json:"failed"`
	TookMs  int64   `json:"tookMs"`
	Checks  []Check `json:"checks"`
}

// report counts. A report of nothing, or of a part because the time was over, proves nothing.
func (d *Doctor) report(ctx context.Context) Report {
	if ctx.Err() != nil || len(d.checks) == 0 {
		d.add(Check{Group: Controls, Name: "the self-test", Verdict: Fail, Evidence: "The test ended before it was complete.", Fix: "Run it again on a machine that is less busy."})
	}
	r := Report{Verdict: Pass, Level: d.Box.Level().String(), Checks: d.checks, TookMs: time.Since(d.began).Milliseconds()}
	for _, c := range d.checks {
		switch c.Verdict {
		case Pass:
			r.Passed++
		case Reduced:
			r.Reduced++
		case Fail:
			r.Failed++
		}
	}
	switch {
	case r.Failed > 0:
		r.Verdict = Fail
	case r.Reduced > 0:
		r.Verdict = Reduced
	}
	return r
}

// verdict passes what holds and fails what does not.
func verdict(holds bool) Verdict {
	if holds {
		return Pass
	}
	return Fail
}

// ask is the fix of what must not happen: it is a fault of ours or of a kernel, and no setting.
const ask = "This must not happen on any host. Report it privately, as SECURITY.md describes, with the output of `atelier doctor --json`."

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
