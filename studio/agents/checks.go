package agents

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/advice"
)

// Tests runs tests against a draft.
type Tests interface {
	Failures(ctx context.Context, actor registry.Actor, agent string, seen registry.Seen, tests []registry.Test) ([]registry.Regression, error)
}

// maxListed is the maximum number of failed checks in an error.
const maxListed = 20

// regressions runs the checks of a draft before it is published as v. The checks are the draft's tests, the tests of
// the previous version unless v is a major version, and recorded inputs if requested. It returns the failed checks and
// the number of the previous version.
func (s *Service) regressions(ctx context.Context, actor registry.Actor, v registry.Version, published []registry.Version, req PublishRequest) ([]registry.Regression, string, error) {
	if req.repeats {
		return nil, "", nil // The tests run the draft, which may differ from the folder that is published.
	}
	before, relied, err := s.reliedOn(ctx, actor, v, published)
	if err != nil {
		return nil, "", err
	}
	failed, err := s.failures(ctx, actor, v.AgentID, req.Seen, v.Tests, "")
	if err != nil {
		return nil, "", err
	}
	for i := range failed { // If both versions have the same test, it runs only once.
		if slices.ContainsFunc(v.Tests, func(t registry.Test) bool {
			return t.Name == failed[i].Test && slices.ContainsFunc(relied, sameCase(t))
		}) {
			failed[i].Version = before
		}
	}
	rest := slices.DeleteFunc(slices.Clone(relied), func(t registry.Test) bool { return slices.ContainsFunc(v.Tests, sameCase(t)) })
	older, err := s.failures(ctx, actor, v.AgentID, req.Seen, rest, before)
	if err != nil {
		return nil, "", err
	}
	failed = append(failed, older...)
	if req.Replay > 0 {
		differing, err := s.Replays.Differing(ctx, actor, v.AgentID, req.Seen, req.Replay)
		if err != nil {
			return nil, "", err
		}
		failed = append(failed, differing...)
	}
	return failed, before, nil
}

func (s *Service) failures(ctx context.Context, actor registry.Actor, agent string, seen registry.Seen, tests []registry.Test, version string) ([]registry.Regression, error) {
	if len(tests) == 0 {
		return nil, nil
	}
	failed, err := s.Tests.Failures(ctx, actor, agent, seen, tests)
	for i := range failed {
		failed[i].Version = version
	}
	return failed, err
}

// reliedOn returns the version before v and its tests. Callers of that version rely on them. If v is a major version it
// returns none, because a major version may break callers.
func (s *Service) reliedOn(ctx context.Context, actor registry.Actor, v registry.Version, published []registry.Version) (string, []registry.Test, error) {
	at := advice.Previous(v.Version, numbers(published))
	if at < 0 {
		return "", nil, nil
	}
	breaks, err := advice.Large(v.Version, published[at].Version, registry.MajorBump)
	if err != nil || breaks {
		return "", nil, err
	}
	before, err := s.Resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: v.AgentID, Version: published[at].Version})
	return before.Version, before.Tests, err
}

// sameCase returns a function that reports whether a test has the same input and expectation as t. Names are ignored.
func sameCase(t registry.Test) func(registry.Test) bool {
	type asked struct {
		Input  any
		Expect registry.Expectation
		Ignore []string
	}
	sum := func(t registry.Test) string {
		sum, err := jcs.DigestValue(asked{t.Input, t.Expect, t.Ignore})
		if err != nil {
			return t.Name // The error is impossible: the test was checked when it was saved.
		}
		return sum
	}
	is := sum(t)
	return func(other registry.Test) bool { return sum(other) == is }
}

// accepted adds the failed checks that the publisher accepts to the advice. The failed checks may break callers, so the
// advised version becomes a major one.
func accepted(advised registry.Advice, failed []registry.Regression) (registry.Advice, error) {
	if advised.Base == "" {
		return advised, nil
	}
	next, err := advice.Next(advised.Base, registry.MajorBump)
	if err != nil {
		return advised, err
	}
	advised.Bump, advised.Version, advised.Reasons = registry.MajorBump, next, slices.Clone(advised.Reasons)
	for _, f := range failed {
		advised.Reasons = append(advised.Reasons, registry.Reason{Bump: registry.MajorBump, Pointer: pointerOf(f), Message: sentenceOf(f)})
	}
	return advised, nil
}

// refuseRegressions returns the error that lists the failed checks and the callers of the previous version.
func (s *Service) refuseRegressions(ctx context.Context, v registry.Version, before string, failed []registry.Regression) error {
	var names []string
	refused := &fault.Error{Code: fault.TestsFailed}
	for _, f := range failed[:min(len(failed), maxListed)] {
		refused.Details = append(refused.Details, fault.Detail{Pointer: pointerOf(f), Message: sentenceOf(f)})
	}
	for _, f := range failed {
		if f.Test != "" {
			names = append(names, `"`+f.Test+`"`)
		}
	}
	refused.Message = "Nothing was published because checks fail"
	if len(names) > 0 {
		refused.Message += ": " + strings.Join(names[:min(len(names), mostNamed)], ", ")
		if len(names) > mostNamed {
			refused.Message += ", …"
		}
	}
	refused.Message += "."
	refused.Extra = map[string]any{
		"failed": failed,
		"remedy": `Change the code or the tests. To publish a version that breaks callers, send "acceptRegressions": true with a comment; it becomes a major version.`,
	}
	if before == "" {
		return refused
	}
	pins, err := s.Pins.Holding(ctx, v.Publisher.Workspace, v.AgentID)
	if err != nil {
		return errors.Join(refused, err)
	}
	pins = slices.DeleteFunc(pins, func(p registry.Pin) bool { return p.Version != before })
	if len(pins) > 0 {
		refused.Message += " " + v.Agent + "@" + before + " is pinned by " + owners(pins) + "."
		refused.Extra["pins"] = pins
	}
	return refused
}

func pointerOf(f registry.Regression) string {
	if f.Test == "" {
		return "/replay"
	}
	return "/tests/" + jcs.EscapePointer(f.Test)
}

// sentenceOf returns a sentence for an error message that describes a failed check.
func sentenceOf(f registry.Regression) string {
	switch {
	case f.Test == "":
		return f.Message
	case f.Version == "":
		return `The test "` + f.Test + `" fails: ` + f.Message
	}
	return `The test "` + f.Test + `" of ` + f.Version + " fails: " + f.Message
}
