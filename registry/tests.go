package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/runtimes"
)

// These constants limit the tests of an agent.
const (
	MaxTests     = 200
	maxTestBytes = 1 << 20 // total bytes of all tests of an agent
	maxTestName  = 100
	maxIgnored   = 50
	maxTestDepth = 128
)

// RefusedInput is the error type that a test expects if the input schema must reject the test's input. Such a test runs
// no program.
const RefusedInput = "invalid_input"

// TestSource says how a test was made.
type TestSource string

// These are the values of TestSource.
const (
	TestByPerson  TestSource = "person"
	TestRecorded  TestSource = "recorded"  // copied from a run
	TestGenerated TestSource = "generated" // generated from the schemas
)

// Test is a test case of an agent: an input, and the expected answer of the program.
type Test struct {
	Name   string          `json:"name" doc:"Unique among the tests of the agent."`
	Input  json.RawMessage `json:"input"`
	Expect Expectation     `json:"expect"`
	Ignore []string        `json:"ignore,omitempty" doc:"JSON pointers of the parts of the output that are not compared. The segment * matches every element of an array."`
	Source TestSource      `json:"source,omitempty" enum:"person,recorded,generated" doc:"Origin of the test (default: person)."`
	Tags   []string        `json:"tags,omitempty"`
}

// Expectation is the answer that a test requires. Exactly one of its fields is set.
type Expectation struct {
	Output    json.RawMessage `json:"output,omitempty" doc:"Exact output that is expected."`
	Schema    bool            `json:"schema,omitempty" doc:"true expects any output that matches the output schema."`
	ErrorType string          `json:"errorType,omitempty" doc:"Type of the error that the program must end with. For invalid_input, the input schema must refuse the input."`
	Matches   json.RawMessage `json:"matches,omitempty" doc:"JSON Schema that the output must match."`
}

// CheckTests checks the tests of an agent before they are saved. It also sets the sources of tests that have none. It
// does not check the schemas in the tests. The error names each wrong field.
func CheckTests(tests []Test) ([]Test, error) {
	if len(tests) > MaxTests {
		return nil, fault.Invalid("/tests", "must have at most %d tests.", MaxTests)
	}
	refused := &fault.Error{Code: fault.InvalidInput, Message: "The tests are not valid."}
	checked, names, total := slices.Clone(tests), map[string]int{}, 0
	for i := range checked {
		t := &checked[i]
		if t.Source == "" {
			t.Source = TestByPerson
		}
		add := func(field, format string, args ...any) {
			refused.Details = append(refused.Details, fault.Detail{Pointer: fmt.Sprintf("/tests/%d%s", i, field), Message: fmt.Sprintf(format, args...)})
		}
		if first, taken := names[t.Name]; taken {
			add("/name", "must be unique, but test %d has the same name.", first)
		}
		names[t.Name] = i
		t.check(add)
		total += len(t.Input) + len(t.Expect.Output) + len(t.Expect.Matches)
	}
	if total > maxTestBytes {
		refused.Details = append(refused.Details, fault.Detail{Pointer: "/tests", Message: "must have inputs and outputs of at most " + bytesize.Text(maxTestBytes) + " together."})
	}
	if len(refused.Details) > 0 {
		return nil, refused
	}
	return checked, nil
}

// check reports the wrong fields of one test.
func (t *Test) check(add func(field, format string, args ...any)) {
	switch {
	case strings.TrimSpace(t.Name) != t.Name || t.Name == "" || len(t.Name) > maxTestName:
		add("/name", "must have 1 to %d bytes and no spaces at the start or end.", maxTestName)
	case CheckText("/name", t.Name) != nil || strings.ContainsAny(t.Name, "\t\r\n"):
		add("/name", "must be one line of UTF-8 text without control characters.")
	}
	if jcs.Check(t.Input, jcs.Limits{Depth: maxTestDepth, Bytes: maxTestBytes}) != nil {
		add("/input", "must be JSON, nested at most %d levels.", maxTestDepth)
	}
	if !slices.Contains([]TestSource{TestByPerson, TestRecorded, TestGenerated}, t.Source) {
		add("/source", "must be person, recorded or generated.")
	}
	t.Expect.check(add)
	if len(t.Ignore) > maxIgnored {
		add("/ignore", "must have at most %d pointers.", maxIgnored)
	}
	for n, pointer := range t.Ignore {
		if pointer == "" || pointer[0] != '/' || len(pointer) > MaxWords || CheckText("", pointer) != nil {
			add(fmt.Sprintf("/ignore/%d", n), "must be a JSON pointer, for example /items/*/id.")
		}
	}
	if len(t.Tags) > maxTags || slices.ContainsFunc(t.Tags, func(tag string) bool { return tag == "" || len(tag) > maxTag || CheckText("", tag) != nil }) {
		add("/tags", "must have at most %d tags of 1 to %d bytes.", maxTags, maxTag)
	}
}

func (e Expectation) check(add func(field, format string, args ...any)) {
	set := 0
	for _, is := range []bool{len(e.Output) > 0, e.Schema, e.ErrorType != "", len(e.Matches) > 0} {
		if is {
			set++
		}
	}
	if set != 1 {
		add("/expect", "must have exactly one of output, schema, errorType and matches.")
	}
	limits := jcs.Limits{Depth: maxTestDepth, Bytes: maxTestBytes}
	if len(e.Output) > 0 && jcs.Check(e.Output, limits) != nil {
		add("/expect/output", "must be JSON, nested at most %d levels.", maxTestDepth)
	}
	if len(e.Matches) > 0 && jcs.Check(e.Matches, limits) != nil {
		add("/expect/matches", "must be a JSON Schema.")
	}
	if e.ErrorType != "" && e.ErrorType != RefusedInput && !slices.Contains(expectable(), runtimes.ErrorType(e.ErrorType)) {
		add("/expect/errorType", "must be %s or the type of an error of a program, for example %s.", RefusedInput, runtimes.RuntimeError)
	}
}

// expectable lists the error types that a test may expect. It omits cancellation and interruption, because they are not
// caused by the program.
func expectable() []runtimes.ErrorType {
	return []runtimes.ErrorType{runtimes.SyntaxError, runtimes.RuntimeError, runtimes.RecursionLimit, runtimes.InvalidOutput, runtimes.MemoryLimit,
		runtimes.OutputLimit, runtimes.ProcessLimit, runtimes.DiskLimit, runtimes.Denied, runtimes.Timeout}
}

// Regressions holds the failed checks that a publisher accepted, with the publisher's reason. A version with
// regressions must be a new major version.
type Regressions struct {
	Comment string       `json:"comment"`
	Failed  []Regression `json:"failed"`
}

// Regression is a check that failed when a version was published.
type Regression struct {
	Test    string `json:"test,omitempty" doc:"Name of the test. Empty for a recorded input."`
	Version string `json:"version,omitempty" doc:"Version whose test or recorded input failed. Empty for a test of the draft."`
	Message string `json:"message"`
}
