package runtimetest

import (
	"slices"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
)

// Attack is a program that tries to harm the house, and how that has to end.
type Attack struct {
	Source string
	Edit   func(*runtimes.Job)                       // limits and so on; nil for none
	Want   []runtimes.ErrorType                      // any of these; empty if Check decides, or else it has to succeed
	Check  func(*testing.T, runtimes.Outcome, *Host) // further demands; nil for none
}

// Hostile runs attacks, one after the other: each is felt by the whole machine. After each the next run has to work.
func Hostile(t *testing.T, rt runtimes.Runtime, p Programs, attacks map[string]Attack) {
	t.Helper()
	s := suite{rt, p}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			var edits []func(*runtimes.Job)
			if attack.Edit != nil {
				edits = append(edits, attack.Edit)
			}
			outcome, host := Run(t, rt, p.Job(attack.Source, edits...))
			switch {
			case len(attack.Want) == 0 && attack.Check == nil && outcome.Error != nil:
				t.Errorf("%+v\nstderr %.1000s", outcome.Error, host.Stderr(t))
			case len(attack.Want) > 0 && (outcome.Error == nil || !slices.Contains(attack.Want, outcome.Error.Type)):
				t.Errorf("%+v, output %.200s, want %v\nstderr %.1000s", outcome.Error, outcome.Output, attack.Want, host.Stderr(t))
			}
			if attack.Check != nil {
				attack.Check(t, outcome, host)
			}
			s.hello(t)
		})
	}
}
