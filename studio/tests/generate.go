package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
)

// These are the limits of generated tests.
const (
	DefaultGenerated = 24
	MaxGenerated     = 100
	maxShrinks       = 20 // maximum number of runs for making one failing input smaller
	maxShrunk        = 5  // maximum number of failing inputs that are made smaller
)

// Kind is the kind of a generated input.
type Kind string

// These are the kinds of generated inputs. A valid or an edge input must succeed with a matching output, or be rejected
// by a schema in the program. An invalid input must be rejected.
const (
	Valid   Kind = "valid"
	Edge    Kind = "edge"
	Invalid Kind = "invalid"
)

// GenerateRequest requests tests from the input schema of a draft or version. The same seed generates the same inputs;
// 0 selects a random seed.
type GenerateRequest struct {
	Request
	Count int
	Seed  uint64
}

// Generated is a generated test with its result. The input of a failed test is made as small as possible.
type Generated struct {
	Test   registry.Test `json:"test"`
	Kind   Kind          `json:"kind" enum:"valid,edge,invalid"`
	Result Result        `json:"result"`
}

// Generation is the result of all generated tests.
type Generation struct {
	Report
	Seed  uint64      `json:"seed" doc:"Seed that gives the same inputs again."`
	Cases []Generated `json:"cases"`
}

// Generate generates inputs from the input schema and runs the program with them. It makes failing inputs smaller. It
// stores no tests.
func (s *Service) Generate(ctx context.Context, actor registry.Actor, req GenerateRequest) (Generation, error) {
	if req.Count == 0 {
		req.Count = DefaultGenerated
	}
	if req.Count < 1 || req.Count > MaxGenerated {
		return Generation{}, fault.Invalid("/count", "must be from 1 to %d.", MaxGenerated)
	}
	if req.Seed == 0 {
		req.Seed = uint64(time.Now().UnixNano()) & registry.LastSeq
	}
	plan, err := s.Prepare(ctx, actor, req.Request)
	if err != nil {
		return Generation{}, err
	}
	kinds, err := s.inputs(plan, req.Count, req.Seed)
	if err != nil {
		return Generation{}, err
	}
	done := Generation{Seed: req.Seed, Cases: []Generated{}}
	results := map[string]Result{}
	if done.Report, err = plan.Run(ctx, func(r Result) { results[r.Name] = r }); err != nil {
		return Generation{}, err
	}
	shrunk := 0
	for _, t := range plan.tests {
		one := Generated{Test: t, Kind: kinds[t.Name], Result: results[t.Name]}
		if one.declared() {
			done.Passed, done.Failed = done.Passed+1, done.Failed-1
		}
		if !one.Result.Passed && shrunk < maxShrunk {
			shrunk++
			if one, err = s.shrink(ctx, plan, one); err != nil {
				return Generation{}, err
			}
		}
		done.Cases = append(done.Cases, one)
	}
	return done, nil
}

// declared handles a case that a schema in the program rejected. It changes the case into a test that expects this
// rejection.
func (g *Generated) declared() bool {
	if g.Kind == Invalid || g.Result.ErrorType != registry.RefusedInput {
		return false
	}
	g.Test.Expect = registry.Expectation{ErrorType: registry.RefusedInput}
	g.Result.Passed, g.Result.Message = true, ""
	return true
}

// inputs replaces the tests of a plan by generated tests and returns the kinds of their inputs. An input is dropped if
// the validator finds that it does not have its intended kind.
func (s *Service) inputs(plan *Plan, count int, seed uint64) (map[string]Kind, error) {
	var schema any
	if len(plan.inputSchema) > 0 {
		if err := json.Unmarshal(plan.inputSchema, &schema); err != nil {
			return nil, err
		}
	}
	g := &generator{root: schema, random: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // The generator must be predictable, so that a seed repeats the inputs.
	kinds, seen, wanted := map[string]Kind{}, map[string]bool{}, []Kind{Valid, Edge, Invalid}
	plan.tests = nil
	for try := 0; len(plan.tests) < count && try < 8*count; try++ {
		kind := wanted[try%len(wanted)]
		raw, err := json.Marshal(g.input(kind))
		if err != nil {
			return nil, err
		}
		if len(raw) > maxGeneratedBytes {
			continue
		}
		sum, err := jcs.Digest(raw)
		if err != nil || seen[sum] {
			continue
		}
		seen[sum] = true
		fits, err := s.fits(plan.inputSchema, raw)
		if err != nil {
			return nil, err
		}
		if fits == (kind == Invalid) {
			continue
		}
		t := registry.Test{
			Name: fmt.Sprintf("generated %s %d", kind, len(plan.tests)+1), Input: raw, Expect: registry.Expectation{Schema: true},
			Source: registry.TestGenerated, Tags: []string{string(kind)},
		}
		if kind == Invalid {
			t.Expect = registry.Expectation{ErrorType: registry.RefusedInput}
		}
		kinds[t.Name] = kind
		plan.tests = append(plan.tests, t)
	}
	return kinds, nil
}

func (s *Service) fits(schema, input json.RawMessage) (bool, error) {
	if len(schema) == 0 {
		return true, nil
	}
	details, err := s.Validator.Validate(schema, input)
	return len(details) == 0, err
}

// shrink replaces the input of a failed test by smaller inputs, as long as the program fails in the same way.
func (s *Service) shrink(ctx context.Context, plan *Plan, one Generated) (Generated, error) {
	if one.Kind == Invalid {
		return one, nil
	}
	for tries := 0; tries < maxShrinks; {
		value, err := decode(one.Test.Input)
		if err != nil {
			return one, err
		}
		smaller := false
		for _, candidate := range simpler(value) {
			raw, err := json.Marshal(candidate)
			if err != nil {
				return one, err
			}
			if fits, err := s.fits(plan.inputSchema, raw); err != nil || !fits {
				continue
			}
			if tries++; tries > maxShrinks {
				break
			}
			t := one.Test
			t.Input = raw
			result, err := plan.once(ctx, t)
			if err != nil {
				return one, err
			}
			if !result.Passed && result.ErrorType == one.Result.ErrorType {
				one.Test, one.Result, smaller = t, result, true
				break
			}
		}
		if !smaller {
			break
		}
	}
	return one, nil
}

// simpler returns somewhat smaller values, the smallest one first.
func simpler(value any) []any {
	var all []any
	switch v := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		for _, name := range names {
			rest := maps.Clone(v)
			delete(rest, name)
			all = append(all, rest)
		}
		for _, name := range names {
			for _, part := range simpler(v[name]) {
				changed := maps.Clone(v)
				changed[name] = part
				all = append(all, changed)
			}
		}
	case []any:
		if len(v) > 0 {
			all = append(all, []any{}, v[:len(v)/2], v[1:])
		}
		for i := range v {
			for _, part := range simpler(v[i]) {
				changed := slices.Clone(v)
				changed[i] = part
				all = append(all, changed)
			}
		}
	case string:
		if letters := []rune(v); len(letters) > 0 {
			all = append(all, "", string(letters[:1]), string(letters[:len(letters)/2]))
			all = slices.DeleteFunc(all, func(s any) bool { return s == v })
		}
	case json.Number:
		for _, n := range []json.Number{"0", "1"} {
			if v != n && v != "0" {
				all = append(all, n)
			}
		}
	}
	return all
}
