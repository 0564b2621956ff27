package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// Verdict is the result of a check.
type Verdict string

// Verdicts. Reduced means that the host lacks a protection, which its operator can add, but that the other protections
// work. Fail means that a program could escape, or that no program runs.
const (
	Pass    Verdict = "PASS"
	Reduced Verdict = "REDUCED"
	Fail    Verdict = "FAIL"
)

// Group is a group of checks on one subject.
type Group string

// Groups of checks, in the order of a full report.
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

// Groups returns all groups in order.
func Groups() []Group {
	return []Group{Environment, Controls, Inside, Syscalls, Canaries, Limits, Persistence, Crashes, Speed, HTTP}
}

// Check is one check with its result.
type Check struct {
	Group     Group             `json:"group"`
	Name      string            `json:"name"`
	Language  runtimes.Language `json:"language,omitempty"`
	Verdict   Verdict           `json:"verdict"`
	Evidence  string            `json:"evidence"`
	Fix       string            `json:"fix,omitempty"`
	Mechanism string            `json:"mechanism,omitempty"` // entry of sandbox.Mechanisms that implements it; "" if there is none
}

// lookAround is the name of the check that the program which inspects its environment works.
const lookAround = "an inspection"

// Works reports whether the check tests that a language works, rather than its isolation.
func (c Check) Works() bool { return c.Group == Controls || c.Name == lookAround }

// Report is the result of all checks.
type Report struct {
	Verdict Verdict `json:"verdict"`
	Level   string  `json:"level"` // isolation level of the sandbox, as stored with each run
	Passed  int     `json:"passed"`
	Reduced int     `json:"reduced"`
	Failed  int     `json:"failed"`
	TookMs  int64   `json:"tookMs"`
	Checks  []Check `json:"checks"`
}

// report counts the verdicts. If there are no checks, or ctx has ended, it adds a failed check.
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

// verdict returns Pass if holds is true, and Fail otherwise.
func verdict(holds bool) Verdict {
	if holds {
		return Pass
	}
	return Fail
}

// ask is the remedy for a fault of Atelier or of a kernel. No setting can fix such a fault, so it asks the operator to
// report it.
const ask = "This must not happen on any host. Report it privately, as SECURITY.md describes, with the output of `atelier doctor --json`."

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
